import { readFile } from 'node:fs/promises'

import { command } from '../command.ts'

const PACKAGE = new URL('../../package.json', import.meta.url)

export const version = command({
  name: 'version',
  usage: '',
  summary: 'the version of this program',
  async run({ print }, { json }) {
    const { version } = JSON.parse(await readFile(PACKAGE, 'utf8')) as { version: string }
    print(json ? JSON.stringify({ version }, null, 2) : `skerry ${version}`)
  },
})
