import { readFile } from 'node:fs/promises'

import { command } from '../command.ts'

const PACKAGE = new URL('../../package.json', import.meta.url)

export const version = command({
  name: 'version',
  asks: 'none',
  usage: '',
  summary: 'print the version',
  examples: ['skerry version', 'skerry version --json'],
  next: 'skerry doctor checks this machine',
  async run({ print }, { json }) {
    const version = await readVersion()
    print(json ? JSON.stringify({ version }, null, 2) : `skerry ${version}`)
  },
})

export async function readVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(PACKAGE, 'utf8')) as { version: string }
  return version
}
