"""Identifiers of the SPDX licence list that code, models and data are published under."""

from __future__ import annotations

# https://spdx.org/licenses; without licences of fonts, documentation and single programs.
# fmt: off
LICENCES = (
    "0BSD", "AFL-3.0", "AGPL-3.0-only", "AGPL-3.0-or-later", "Apache-1.1",
    "Apache-2.0", "Artistic-1.0", "Artistic-2.0", "BlueOak-1.0.0", "BSD-1-Clause",
    "BSD-2-Clause", "BSD-2-Clause-Patent", "BSD-3-Clause", "BSD-3-Clause-Clear", "BSD-4-Clause",
    "BSL-1.0", "BUSL-1.1", "C-UDA-1.0", "CC-BY-1.0", "CC-BY-2.0",
    "CC-BY-2.5", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-NC-1.0", "CC-BY-NC-2.0",
    "CC-BY-NC-2.5", "CC-BY-NC-3.0", "CC-BY-NC-4.0", "CC-BY-NC-ND-3.0", "CC-BY-NC-ND-4.0",
    "CC-BY-NC-SA-2.0", "CC-BY-NC-SA-3.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-3.0", "CC-BY-ND-4.0",
    "CC-BY-SA-1.0", "CC-BY-SA-2.0", "CC-BY-SA-2.5", "CC-BY-SA-3.0", "CC-BY-SA-4.0",
    "CC-PDDC", "CC0-1.0", "CDDL-1.0", "CDDL-1.1", "CDLA-Permissive-1.0",
    "CDLA-Permissive-2.0", "CDLA-Sharing-1.0", "CECILL-2.0", "CECILL-2.1", "CECILL-B",
    "CECILL-C", "ECL-2.0", "EPL-1.0", "EPL-2.0", "EUPL-1.1",
    "EUPL-1.2", "GFDL-1.3-only", "GFDL-1.3-or-later", "GPL-1.0-only", "GPL-1.0-or-later",
    "GPL-2.0-only", "GPL-2.0-or-later", "GPL-3.0-only", "GPL-3.0-or-later", "HPND",
    "ISC", "LGPL-2.0-only", "LGPL-2.0-or-later", "LGPL-2.1-only", "LGPL-2.1-or-later",
    "LGPL-3.0-only", "LGPL-3.0-or-later", "LPPL-1.3c", "MIT", "MIT-0",
    "MIT-Modern-Variant", "MPL-1.1", "MPL-2.0", "MS-PL", "MS-RL",
    "MulanPSL-2.0", "NCSA", "ODbL-1.0", "ODC-By-1.0", "OGL-UK-3.0",
    "OLDAP-2.8", "OpenSSL", "OSL-3.0", "PDDL-1.0", "PolyForm-Noncommercial-1.0.0",
    "PolyForm-Small-Business-1.0.0", "PostgreSQL", "PSF-2.0", "Python-2.0", "QPL-1.0",
    "RPL-1.5", "SSPL-1.0", "Unicode-3.0", "Unlicense", "UPL-1.0",
    "Vim", "W3C", "WTFPL", "X11", "Zlib",
    "ZPL-2.1",
)
# fmt: on
