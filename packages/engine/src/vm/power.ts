import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { commandTo, decidePower, powerRules, type PowerCommand, type PowerState } from '@skerry/vm'

import { findRecord, findVm, readFacts, type FoundVm } from '../domain/find-domain.ts'
import { readPowerOf } from '../domain/read-power.ts'
import { askToGo, setClock } from '../guest/guest.ts'
import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import { MEMORY_TIMEOUT_MS } from '../host/link.ts'
import type { Owner } from '../host/owner.ts'
import { saysLibvirt } from '../host/to-fault.ts'
import { requireBridge } from '../network/bridge.ts'
import { forgetNeighbour } from '../network/neighbours.ts'
import { ensureNetworkOf } from '../network/org-network.ts'
import { findSettled, withIntentRecorded } from '../recover/pending-change.ts'
import { closeShare, openShare, requireUnshared, withoutShare } from '../share/share.ts'
import { isOnItsNetwork, putOnItsNetwork, restoreLinks } from './join-network.ts'

/** A guest that is still starting ignores both its agent and the power button, so the request is repeated. */
const ASK_AGAIN_MS = 10_000

export interface PowerOptions {
  readonly owner?: Owner
  /** How long this guest may take to shut itself down. Default: the host's setting. */
  readonly shutdownTimeoutMs?: number
}

export async function readPower(
  host: Host,
  id: string,
  owner: Owner = 'local',
): Promise<PowerState> {
  findRecord(host, id, owner)
  const ask = async () => {
    const { dom } = await findVm(host, id, owner)
    return (await readPowerOf(host, dom)).power
  }
  return host.locks.isHeld(id) ? ask() : host.powers.read(domainName({ owner, id }), ask)
}

/** Applies a power command, or throws why it cannot; returns the new power state. */
export function changePower(
  host: Host,
  id: string,
  command: PowerCommand,
  options: PowerOptions = {},
): Promise<PowerState> {
  return host.locks.run(id, async () => {
    const found = await findSettled(host, id, options.owner)
    const now = (await readPowerOf(host, found.dom)).power
    const decision = decidePower(now, command)
    if (decision === 'refuse') throw refusal(id, now, command)
    if (decision === 'go') await apply[command](host, found, now, options)
    return (await readPowerOf(host, found.dom)).power
  })
}

/** Brings the VM to a power state from its current one; 'wrong-state' if no single command leads there. */
export function reachPower(
  host: Host,
  id: string,
  goal: PowerState,
  options: PowerOptions = {},
): Promise<PowerState> {
  return host.locks.run(id, async () => {
    const found = await findSettled(host, id, options.owner)
    const now = (await readPowerOf(host, found.dom)).power
    const command = commandTo(goal, now)
    if (command === undefined) {
      throw new Fault('wrong-state', `VM ${id} is ${now}; no command leads from there to ${goal}`, {
        detail: now,
      })
    }
    if (command !== 'nothing') await apply[command](host, found, now, options)
    // An earlier attempt may have failed after the guest resumed.
    else if (now === 'on') await restoreLinks(host, found)
    return (await readPowerOf(host, found.dom)).power
  })
}

/** Turns off a VM that does not run: the guest's memory, saved on disk or paused in RAM, is discarded. */
export function discardMemory(
  host: Host,
  id: string,
  options: PowerOptions = {},
): Promise<PowerState> {
  return host.locks.run(id, async () => {
    const found = await findSettled(host, id, options.owner)
    const now = (await readPowerOf(host, found.dom)).power
    if (now === 'on') {
      throw new Fault('wrong-state', `VM ${id} is on; its memory is in use`, { detail: now })
    }
    if (now === 'suspended') {
      await host.link.call(libvirt.domainManagedSaveRemove, { dom: found.dom, flags: 0 })
    }
    if (now === 'paused') await apply.off(host, found, now, options)
    return (await readPowerOf(host, found.dom)).power
  })
}

type Apply = (host: Host, found: FoundVm, now: PowerState, options: PowerOptions) => Promise<void>

const apply: Readonly<Record<PowerCommand, Apply>> = {
  async on(host, found, now) {
    const { record, dom } = found
    const facts = await readFacts(host, dom)
    const { bridge, mac } = facts
    // The operator may have disallowed the bridge since, and the bridge may be gone.
    await requireBridge(host, bridge)
    if (bridge !== undefined && now === 'off') {
      await forgetNeighbour(bridge, mac).catch((error: unknown) =>
        host.log(
          `failed to drop an old neighbour entry; VM ${record.id} may be listed with an old address for a while`,
          error,
        ),
      )
    }
    if (!record.nics) await ensureNetworkOf(host, record.network)
    // A revert to a snapshot also reverts the definition, possibly to a network that the VM has left since.
    if (now === 'off' && !isOnItsNetwork(facts, record)) await putOnItsNetwork(host, found)
    // Starting a domain that has a managed save image restores it: also the way out of 'suspended'.
    await withIntentRecorded(host, found, { change: 'start', power: now }, () =>
      host.link.call(libvirt.domainCreate, { dom }, { timeoutMs: MEMORY_TIMEOUT_MS }),
    )
    if (record.sharing) {
      // A guest without its folders is better than none; they are retried when its agent answers.
      await openShare(host, record, dom).catch((error: unknown) =>
        host.log(`the shared folders of VM ${record.id} are not available yet`, error),
      )
    }
    if (now === 'suspended') await restoreLinks(host, found)
    if (now === 'suspended') wakeClock(host, found)
  },
  async off(host, { record, dom }) {
    await host.link.call(libvirt.domainDestroy, { dom }).catch((error: unknown) => {
      // It stopped after its state was read; or libvirtd has just started and had not noticed yet.
      if (!saysLibvirt(error, libvirt.ErrorCode.operationInvalid)) throw error
    })
    await closeShare(host, record)
  },
  shutdown,
  async suspend(host, found, now) {
    const { record, dom } = found
    const bytes = (await readFacts(host, dom)).memoryMiB * 1024 ** 2
    using _ = await host.room.hold(host.paths.qemuSaves, bytes, `suspending VM ${record.id}`)
    if (now === 'paused') await requireUnshared(host, record, dom)
    // A guest that is suspended while paused resumes as running: 'on' leads to 'on'.
    const flags = libvirt.DomainSaveRestoreFlags.running
    const save = () =>
      host.link.call(libvirt.domainManagedSave, { dom, flags }, { timeoutMs: MEMORY_TIMEOUT_MS })
    await withIntentRecorded(host, found, { change: 'suspend', power: now }, () =>
      withoutShare(host, record, dom, save),
    )
  },
  pause: ({ link }, { dom }) => link.call(libvirt.domainSuspend, { dom }),
  async unpause(host, found) {
    await host.link.call(libvirt.domainResume, { dom: found.dom })
    wakeClock(host, found)
  },
  reset: ({ link }, { dom }, now) => reset(link, dom, now),
  reboot: (host, { dom }) =>
    askGuest(
      () => askToGo(host, dom, 'reboot'),
      () =>
        host.link.call(libvirt.domainReboot, {
          dom,
          flags: libvirt.DomainRebootFlags.acpiPowerBtn,
        }),
    ),
}

/** Runs in the background: a guest with a late clock is better than none. */
function wakeClock(host: Host, { record, dom }: FoundVm): void {
  setClock(host, dom).catch((error: unknown) =>
    host.log(`failed to set the clock of VM ${record.id}`, error),
  )
}

async function reset(link: Host['link'], dom: libvirt.Domain, now: PowerState): Promise<void> {
  await link.call(libvirt.domainReset, { dom, flags: 0 })
  if (now === 'paused') await link.call(libvirt.domainResume, { dom })
}

async function shutdown(
  host: Host,
  { record, dom }: FoundVm,
  _: PowerState,
  { shutdownTimeoutMs = host.shutdownTimeoutMs }: PowerOptions,
): Promise<void> {
  const flags = libvirt.DomainShutdownFlags.acpiPowerBtn
  const byButton = () => host.link.call(libvirt.domainShutdownFlags, { dom, flags })
  let off: true | undefined
  for (let left = shutdownTimeoutMs; left > 0 && !off; left -= ASK_AGAIN_MS) {
    await askGuest(() => askToGo(host, dom, 'powerdown'), byButton)
    off = await host.changes.until(dom.name, Math.min(left, ASK_AGAIN_MS), async () =>
      (await readPowerOf(host, dom)).power === 'off' ? true : undefined,
    )
  }
  if (!off) {
    throw new Fault(
      'timed-out',
      `VM ${record.id} did not shut down within ${shutdownTimeoutMs / 1000} s and is still on`,
      { hint: `wait and retry, or power VM ${record.id} off`, state: 'on' },
    )
  }
  await closeShare(host, record)
}

/** The agent shuts a guest down cleanly; without an agent there is the power button. */
async function askGuest(
  byAgent: () => Promise<void>,
  byButton: () => Promise<void>,
): Promise<void> {
  try {
    await byAgent()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    await byButton().catch((again: unknown) => {
      // The guest had already obeyed.
      if (!saysLibvirt(again, libvirt.ErrorCode.operationInvalid)) throw again
    })
  }
}

function refusal(id: string, now: PowerState, command: PowerCommand): Fault {
  const needed = powerRules[command].from.join(' or ')
  return new Fault('conflict', `VM ${id} is ${now}; '${command}' requires ${needed}`, {
    state: now,
    ...(now === 'suspended' &&
      command === 'off' && {
        hint: `this would discard its memory: turn VM ${id} on, or delete it`,
      }),
  })
}
