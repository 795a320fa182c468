// The copyright and licences of the package's content, in Debian's machine-readable format.
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
    'Files: usr/lib/skerry/temporal/*\nCopyright: Temporal Technologies Inc., Uber Technologies, Inc. and the authors of the Go modules in it\nLicense: Temporal',
    'Files: usr/lib/skerry/apps/web/dist/*\nCopyright: 2026 Skerry maintainers and the authors of the modules in it, and of the font Inter\nLicense: Web-UI',
    'License: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.',
    ...licenses
      .filter((license) => license !== 'Apache-2.0')
      .map(
        (license) => `License: ${license}\n The text lies in the directory of each of its modules.`,
      ),
    'License: Web-UI\n Apache-2.0; the licences of the modules are in LICENSE.web-ui.gz beside this file. Inter: SIL Open Font License 1.1.',
    'License: Node\n The text, with those of the libraries in it, is in LICENSE.node.gz beside this file.',
    'License: Temporal\n The MIT licence. Its text, with those of the Go modules, is in LICENSE.temporal.gz beside this file.',
  ]
  return `${paragraphs.join('\n\n')}\n`
}
