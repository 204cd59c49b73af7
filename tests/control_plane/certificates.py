"""A certificate authority of a test's own, so that TLS is verified in tests as it is in life."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PublicKey = ec.EllipticCurvePublicKey | rsa.RSAPublicKey

LIFE = datetime.timedelta(days=365)


class Authority:
    """Signs certificates of servers on loopback."""

    def __init__(self, name: str = "gpuyard-tests") -> None:
        self.name = name
        # RSA, because Kueue reads no other key of an authority.
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._certificate = (
            self._builder(name, self._key.public_key(), [name])
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = self._certificate.public_bytes(serialization.Encoding.PEM).decode()
        """PEM text of the authority's own certificate, which clients trust."""
        self.key = _private(self._key)
        """PEM text of the key that it signs with."""

    def issue(self, certificate: Path, key: Path, names: Sequence[str] = ("localhost",)) -> None:
        """Writes a server's certificate, for 127.0.0.1 and these names, and its key, as PEM."""
        own = ec.generate_private_key(ec.SECP256R1())
        issued = (
            self._builder(names[0], own.public_key(), names)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        certificate.write_bytes(issued.public_bytes(serialization.Encoding.PEM))
        key.touch(0o600)
        key.write_text(_private(own))

    def _builder(self, subject: str, key: PublicKey, names: Sequence[str]) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        known: list[x509.GeneralName] = [x509.DNSName(name) for name in names]
        known.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self.name)]))
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + LIFE)
            .add_extension(x509.SubjectAlternativeName(known), critical=False)
        )


def signing_keys(private: Path, public: Path) -> None:
    """Writes a pair of keys with which tokens of service accounts are signed and checked."""
    key = ec.generate_private_key(ec.SECP256R1())
    private.touch(0o600)
    private.write_text(_private(key))
    encoded = serialization.PublicFormat.SubjectPublicKeyInfo
    public.write_bytes(key.public_key().public_bytes(serialization.Encoding.PEM, encoded))


def _private(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    ).decode()
