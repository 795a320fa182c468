import { readFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { mayDo, type VmId } from '@skerry/vm'

import { discard } from './delete.ts'
import { readLayers, virtualBytes } from './disk.ts'
import { readFacts, type Found } from './find-domain.ts'
import type { Host } from './host.ts'
import { seedFile } from './paths.ts'
import { readPowerOf } from './read-power.ts'
import type { Owner, VmRecord } from './record.ts'
import { withoutShare } from './share.ts'
import { findSettled } from './under-way.ts'

/**
 * A running guest goes from one host to another with its disk. Each side speaks only to its own
 * libvirt; what one must know of the other goes through whoever called both.
 *
 *   source   begin ─────────▶ perform ────────▶ confirm, and the VM is gone here
 *   target          prepare ──┘      └▶ finish ──┘
 */
const { live, persistDest, nonSharedDisk, abortOnError, autoConverge, paused } =
  libvirt.DomainMigrateFlags

/** All that the target needs to make room. Plain data: it crosses a network. */
export interface Departure {
  readonly record: VmRecord
  readonly facts: {
    readonly cpus: number
    readonly memoryMiB: number
    readonly nested: boolean
    readonly mac: string
    readonly bridge: string | undefined
  }
  /** The running domain, in libvirt's words. */
  readonly xml: string
  readonly virtualBytes: number
  /** base64 of the seed disk, where there is one. */
  readonly seed: string | undefined
  readonly flags: number
}

/** What the target has made ready. */
export interface Landing {
  /** The domain as it is to run there. */
  readonly xml: string
  /** The domain as it is to be defined there. */
  readonly persistentXml: string
}

/** The target, however it is reached. Cookies are libvirt's own, in base64. */
export interface Target {
  makeReady(departure: Departure): Promise<Landing>
  prepare(
    id: VmId,
    leg: { xml: string; cookie: string; flags: number },
  ): Promise<{ uri: string; cookie: string }>
  finish(
    id: VmId,
    leg: { cookie: string; flags: number; arrived: boolean },
  ): Promise<{ cookie: string }>
  /** Nothing came, and nothing will. */
  giveUp(id: VmId): Promise<void>
}

export interface MigrateOptions {
  readonly owner?: Owner
  readonly signal?: AbortSignal
}

/** Moves a running VM to another host. When it fails the VM goes on where it was. */
export function migrateVm(
  host: Host,
  id: string,
  target: Target,
  options: MigrateOptions = {},
): Promise<void> {
  return host.turns.take(id, async () => {
    const found = await findSettled(host, id, options.owner)
    const { power } = await readPowerOf(host, found.dom)
    if (!mayDo('migrate', power)) {
      throw new Fault('conflict', `VM ${id} is ${power}; only a running VM is moved`, {
        hint: `turn VM ${id} on first`,
      })
    }
    const flags =
      live |
      persistDest |
      nonSharedDisk |
      abortOnError |
      autoConverge |
      (power === 'paused' ? paused : 0)
    await withoutShare(host, found.record, found.dom, () =>
      depart(host, found, target, flags, options.signal),
    )
    await discard(host, await host.records.write({ ...found.record, phase: 'leaving' }))
  })
}

async function depart(
  host: Host,
  found: Found,
  target: Target,
  flags: number,
  signal?: AbortSignal,
): Promise<void> {
  const { id } = found.record
  const { xml, persistentXml } = await target.makeReady(await describe(host, found, flags))
  await using undo = new AsyncDisposableStack()
  undo.defer(() => target.giveUp(id))
  const { destXml, persistXml, uri: uriParam } = libvirt.MigrateParam
  const asked = [libvirt.param.string(persistXml, persistentXml)]
  const begun = await host.link.call(libvirt.domainMigrateBegin3Params, {
    dom: found.dom,
    params: [...asked, libvirt.param.string(destXml, xml)],
    flags,
  })
  // From here on libvirt holds the domain for us until it is told how it ended.
  const confirm = (cookie: string, cancelled: 0 | 1) =>
    host.link.call(libvirt.domainMigrateConfirm3Params, {
      ...{ dom: found.dom, params: asked, cookieIn: bytes(cookie), flags, cancelled },
    })
  try {
    const leg = { xml: begun.xml, cookie: text(begun.cookieOut), flags }
    const { uri, cookie } = await target.prepare(id, leg)
    const performed = await perform(
      host,
      found,
      [...asked, libvirt.param.string(uriParam, uri)],
      cookie,
      flags,
      signal,
    )
    const finished = await target.finish(id, {
      cookie: performed.cookie,
      flags,
      arrived: performed.fault === undefined,
    })
    if (performed.fault !== undefined) throw performed.fault
    undo.move()
    await confirm(finished.cookie, 0)
  } catch (error) {
    await confirm('', 1).catch((again: unknown) =>
      host.note(`the move of VM ${id} did not end cleanly`, again),
    )
    throw error
  }
}

/** Carries memory and disk over. A failure is an outcome: the target must still be told. */
async function perform(
  host: Host,
  { dom }: Found,
  params: libvirt.TypedParam[],
  cookie: string,
  flags: number,
  signal?: AbortSignal,
): Promise<{ cookie: string; fault?: unknown }> {
  const stop = () => {
    host.link
      .call(libvirt.domainAbortJob, { dom })
      .catch((error: unknown) => host.note(`the move of ${dom.name} could not be stopped`, error))
  }
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const { cookieOut } = await host.link.call(
      libvirt.domainMigratePerform3Params,
      { dom, dconnuri: null, params, cookieIn: bytes(cookie), flags },
      // As long as it takes: a disk may be large, and the signal is there to stop it.
      { timeoutMs: 0 },
    )
    return { cookie: text(cookieOut) }
  } catch (fault) {
    return { cookie: '', fault }
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

async function describe(host: Host, { record, dom }: Found, flags: number): Promise<Departure> {
  const { migratable, secure } = libvirt.DomainXMLFlags
  const { xml } = await host.link.call(libvirt.domainGetXmlDesc, {
    dom,
    flags: migratable | secure,
  })
  const { cpus, memoryMiB, nested, mac, bridge, disk } = await readFacts(host, dom)
  const seed = await readFile(seedFile(host.paths, record)).catch(() => undefined)
  return {
    record,
    facts: { cpus, memoryMiB, nested, mac, bridge },
    xml,
    virtualBytes: await virtualBytes(await readLayers(disk)),
    seed: seed?.toString('base64'),
    flags,
  }
}

const bytes = (cookie: string): Uint8Array => Buffer.from(cookie, 'base64')
const text = (cookie: Uint8Array): string => Buffer.from(cookie).toString('base64')
