"""What lets a part of a stack get another key without being made anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pulumi

from gpuyard.components.spec import KeyedSpec


def renamed(opts: pulumi.ResourceOptions | None, name: str, spec: KeyedSpec) -> pulumi.ResourceOptions | None:
    """The options of the component of that name, which had other keys before: the engine finds its state under each.

    It finds the children too, because their names start with the component's: for these the engine puts the former
    name in front (pulumi, pkg/resource/deploy/step_generator.go, inheritedChildAlias).
    """
    # What was renamed back lists its own key, the first one, too.
    former = [key for key in spec.was if key != name]
    if not former:
        return opts
    aliases: list[pulumi.Input[str | pulumi.Alias]] = [pulumi.Alias(name=key) for key in former]
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(aliases=aliases))


def problems(part: str, specs: Mapping[str, KeyedSpec]) -> Iterator[str]:
    """What the former keys of one part of a stack, such as tenants, say that cannot be, a sentence each."""
    owners: dict[str, str] = {}
    for key, spec in specs.items():
        for former in spec.was:
            where = f"{part}.{key}.was"
            if former == key:
                if spec.was[0] != key or len(spec.was) == 1:
                    yield (
                        f"{where}: {former} is its key now: give the key that it had before, or leave was out; "
                        f"renamed back to the key that it had first, give [{former}, and the keys since]"
                    )
            elif former in specs:
                yield (
                    f"{where}: {former} is a key of {part} too, and the two would be one: "
                    f"remove {part}.{former} if it is {key} now, or leave was out"
                )
            elif former in owners:
                yield f"{where}: {former} is what {owners[former]} was, too: name it at the one that has its state"
            owners.setdefault(former, key)
