"""Writes sources anew in which each mutation stands behind a switch."""


def _guard(site, inner):
    """The text of a site with its mutation; inner(a, b) gives what stands between two offsets."""
    here = inner(site.start, site.end)
    on = f"acp_mutant({site.id})".encode()
    if site.kind == "negate":
        return b"(!(" + here + b") != !" + on + b")"
    if site.kind == "remove":
        return b"(" + on + b" ? (void) 0 : (void) (" + here + b"))"
    if site.parts:
        a, b, c, d = site.parts
        left, sign, right = inner(a, b), inner(b, c), inner(c, d)
        return (b"(" + on + b" ? (" + left + b") " + site.change.encode() + b" (" + right + b") : (" +
                left + b")" + sign + b"(" + right + b"))")
    if site.kind == "limit":
        sign = b"+" if site.change == "plus one" else b"-"
        return b"(" + on + b" ? " + here + b" " + sign + b" 1 : " + here + b")"
    value = {"success": b"0", "an error": b"-1"}.get(site.change, site.change.encode())
    if site.change == "success":  # what tells of the error is still called
        return b"(" + on + b" ? ((void) (" + here + b"), 0) : (" + here + b"))"
    return b"(" + on + b" ? " + value + b" : (" + here + b"))"


def _render(source, start, end, sites):
    """What stands between two offsets; the sites that lie in there are applied, outer ones first."""
    # Of two at one place, that which takes its text apart is the inner one.
    inside = sorted((site for site in sites if start <= site.start and site.end <= end),
                    key=lambda site: (site.start, -site.end, len(site.parts)))
    out, at = [], start
    while inside:
        site = inside.pop(0)
        below = [other for other in inside if other.end <= site.end]
        inside = [other for other in inside if other.end > site.end]
        out.append(source[at:site.start])
        out.append(_guard(site, lambda a, b, below=below: _render(source, a, b, below)))
        at = site.end
    out.append(source[at:end])
    return b"".join(out)


def rewrite(source, sites, header):
    """The source with its sites behind switches."""
    return b'#include "' + header.encode() + b'"\n#line 1\n' + _render(source, 0, len(source), sites)
