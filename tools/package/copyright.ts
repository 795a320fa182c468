// Whose work the package carries and under which terms, in Debian's own format for it.
import type { Module } from './run-time-modules.ts'

const FORMAT = 'https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'

export function copyright(modules: readonly Module[]): string {
  const licenses = [...new Set(modules.map(({ license }) => license))].sort()
  const paragraphs = [
    `Format: ${FORMAT}\nUpstream-Name: skerry`,
    'Files: *\nCopyright: 2026 Skerry maintainers\nLicense: Apache-2.0',
    ...modules.map(
      ({ directory, license }) =>
        `Files: usr/lib/skerry/${directory}/*\nCopyright: its authors, as its package.json and licence file name them\nLicense: ${license}`,
    ),
    'Files: usr/lib/skerry/bin/node\nCopyright: Node.js contributors and the authors of the libraries in it\nLicense: Node',
    'License: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.',
    ...licenses
      .filter((license) => license !== 'Apache-2.0')
      .map(
        (license) => `License: ${license}\n The text lies in the directory of each of its modules.`,
      ),
    'License: Node\n The text, with those of the libraries in it, is in LICENSE.node.gz beside this file.',
  ]
  return `${paragraphs.join('\n\n')}\n`
}
