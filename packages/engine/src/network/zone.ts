import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'
import type { OverlayJoin } from '@skerry/vm'

import { overlayDirectory, type Paths } from '../host/paths.ts'
import { makeDirectory, PRIVATE_DIRECTORY } from '../host/private-files.ts'
import type { SwitchTls } from './open-vswitch.ts'

/** The zone that this host has joined. */
export interface JoinedZone {
  readonly join: OverlayJoin
  /** Whether its controller was ever connected there. */
  readonly connected: boolean
}

const zoneFile = (paths: Paths): string => join(overlayDirectory(paths), 'zone.json')

export async function readZone(paths: Paths): Promise<JoinedZone | undefined> {
  const text = await readFile(zoneFile(paths), 'utf8').catch(unlessMissing)
  return text === undefined ? undefined : (JSON.parse(text) as JoinedZone)
}

export async function writeZone(paths: Paths, zone: JoinedZone): Promise<void> {
  await makeDirectory(overlayDirectory(paths), PRIVATE_DIRECTORY)
  await writeDurably(zoneFile(paths), `${JSON.stringify(zone, null, 2)}\n`)
}

/**
 * The files of the current certificate. Each certificate has a directory of its own, and one file names the current one: Open
 * vSwitch gets another set of names, never a key beside the certificate of another key.
 */
export async function currentTls(paths: Paths): Promise<SwitchTls | undefined> {
  const directory = overlayDirectory(paths)
  const name = await readFile(join(directory, 'current'), 'utf8').catch(unlessMissing)
  if (name === undefined) return undefined
  const at = (file: string) => join(directory, name.trim(), file)
  const tls = { key: at('key.pem'), certificate: at('certificate.pem'), issuers: at('issuers.pem') }
  for (const file of Object.values(tls))
    if (!(await stat(file).catch(unlessMissing))) return undefined
  return tls
}

function unlessMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
  throw error
}
