"""What lets a part of a stack get another key without being made anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pulumi

from gpuyard.components.spec import KeyedSpec


def renamed(opts: pulumi.ResourceOptions | None, was: Sequence[str]) -> pulumi.ResourceOptions | None:
    """The options of a component that had these keys before: the engine finds its state under each of them.

    It finds the children too, because their names start with the component's: for these the engine puts the former
    name in front (pulumi, pkg/resource/deploy/step_generator.go, inheritedChildAlias).
    """
    if not was:
        return opts
    aliases: list[pulumi.Input[str | pulumi.Alias]] = [pulumi.Alias(name=key) for key in was]
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(aliases=aliases))


def problems(part: str, specs: Mapping[str, KeyedSpec]) -> Iterator[str]:
    """What the former keys of one part of a stack, such as tenants, say that cannot be, a sentence each."""
    owners: dict[str, str] = {}
    for key, spec in specs.items():
        for former in spec.was:
            where = f"{part}.{key}.was"
            if former == key:
                yield f"{where}: {former} is its key now: give the key that it had before, or leave was out"
            elif former in specs:
                yield (
                    f"{where}: {former} is a key of {part} too, and the two would be one: "
                    f"remove {part}.{former} if it is {key} now, or leave was out"
                )
            elif former in owners:
                yield f"{where}: {former} is what {owners[former]} was, too: name it at the one that has its state"
            owners.setdefault(former, key)
