import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { commandTo, decidePower, powerRules, type PowerCommand, type PowerState } from '@skerry/vm'

import { requireBridge } from './bridge.ts'
import { domainName } from './definition.ts'
import { findRecord, findVm, readFacts, type Found } from './find-domain.ts'
import { setClock } from './guest.ts'
import type { Host } from './host.ts'
import { MEMORY_TIMEOUT_MS } from './link.ts'
import { forgetNeighbour } from './neighbours.ts'
import { ensureNetworkOf } from './org-network.ts'
import { readPowerOf } from './read-power.ts'
import type { Owner } from './record.ts'
import { redefine } from './redefine.ts'
import { closeShare, openShare, requireUnshared, withoutShare } from './share.ts'
import { requireRoom } from './space.ts'
import { saysLibvirt } from './to-fault.ts'
import { findSettled, writtenDown } from './under-way.ts'

/** A guest that is still starting hears neither its agent nor the button: it is asked again. */
const ASK_AGAIN_MS = 10_000

export interface PowerOptions {
  readonly owner?: Owner
  /** How long this guest may take to shut itself down; as the host says where it is left out. */
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
  return host.turns.isTaken(id) ? ask() : host.powers.read(domainName({ owner, id }), ask)
}

/** Does what the command says, or says why not; the power the VM has afterwards. */
export function changePower(
  host: Host,
  id: string,
  command: PowerCommand,
  options: PowerOptions = {},
): Promise<PowerState> {
  return host.turns.take(id, async () => {
    const found = await findSettled(host, id, options.owner)
    const now = (await readPowerOf(host, found.dom)).power
    const decision = decidePower(now, command)
    if (decision === 'refuse') throw refusal(id, now, command)
    if (decision === 'go') await apply[command](host, found, now, options)
    return (await readPowerOf(host, found.dom)).power
  })
}

/** Brings the VM to a state from wherever it is; 'wrong-state' where no single command leads there. */
export function reachPower(
  host: Host,
  id: string,
  goal: PowerState,
  options: PowerOptions = {},
): Promise<PowerState> {
  return host.turns.take(id, async () => {
    const found = await findSettled(host, id, options.owner)
    const now = (await readPowerOf(host, found.dom)).power
    const command = commandTo(goal, now)
    if (command === undefined) {
      throw new Fault('wrong-state', `VM ${id} is ${now}; nothing makes it ${goal} from there`, {
        detail: now,
      })
    }
    if (command !== 'nothing') await apply[command](host, found, now, options)
    return (await readPowerOf(host, found.dom)).power
  })
}

/** Makes a VM that does not run be off: what its guest had in memory, on disk or standing still, is thrown away. */
export function discardMemory(
  host: Host,
  id: string,
  options: PowerOptions = {},
): Promise<PowerState> {
  return host.turns.take(id, async () => {
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

type Apply = (host: Host, found: Found, now: PowerState, options: PowerOptions) => Promise<void>

const apply: Readonly<Record<PowerCommand, Apply>> = {
  async on(host, found, now) {
    const { record, dom } = found
    const { bridge, mac, network } = await readFacts(host, dom)
    // Whoever runs this host may have thought otherwise since, and a bridge may be gone.
    await requireBridge(host, bridge)
    if (bridge !== undefined && now === 'off') {
      await forgetNeighbour(bridge, mac).catch((error: unknown) =>
        host.note(`an old address of VM ${record.id} may be told for a while`, error),
      )
    }
    await ensureNetworkOf(host, record.network)
    // A revert to a snapshot takes the definition back, also to a network that it has left since.
    if (now === 'off' && record.network !== undefined && network !== record.network) {
      await redefine(host, found, {})
    }
    // Starting a domain that has a managed save image restores it: also the way out of 'suspended'.
    await writtenDown(host, found, { change: 'start', power: now }, () =>
      host.link.call(libvirt.domainCreate, { dom }, { timeoutMs: MEMORY_TIMEOUT_MS }),
    )
    if (record.sharing) {
      // A guest without its folders is worth more than none; they are tried again when its agent answers.
      await openShare(host, record, dom).catch((error: unknown) =>
        host.note(`the folders of VM ${record.id} are not there yet`, error),
      )
    }
    if (now === 'suspended') wakeClock(host, found)
  },
  async off(host, { record, dom }) {
    await host.link.call(libvirt.domainDestroy, { dom }).catch((error: unknown) => {
      // It went off after it was looked at; or libvirtd, just started, had yet to see that it had.
      if (!saysLibvirt(error, libvirt.ErrorCode.operationInvalid)) throw error
    })
    await closeShare(host, record)
  },
  shutdown,
  async suspend(host, found, now) {
    const { record, dom } = found
    const bytes = (await readFacts(host, dom)).memoryMiB * 1024 ** 2
    await requireRoom(host.paths.qemuSaves, bytes, `suspending VM ${record.id}`)
    if (now === 'paused') await requireUnshared(host, record, dom)
    // A guest that is suspended while it is paused wakes up running: 'on' leads to 'on'.
    const flags = libvirt.DomainSaveRestoreFlags.running
    const save = () =>
      host.link.call(libvirt.domainManagedSave, { dom, flags }, { timeoutMs: MEMORY_TIMEOUT_MS })
    await writtenDown(host, found, { change: 'suspend', power: now }, () =>
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
      () =>
        host.link.call(libvirt.domainReboot, { dom, flags: libvirt.DomainRebootFlags.guestAgent }),
      () =>
        host.link.call(libvirt.domainReboot, {
          dom,
          flags: libvirt.DomainRebootFlags.acpiPowerBtn,
        }),
    ),
}

/** Nobody waits for it: a guest whose clock is late is worth more than none. */
function wakeClock(host: Host, { record, dom }: Found): void {
  setClock(host, dom).catch((error: unknown) =>
    host.note(`the clock of VM ${record.id} was not set`, error),
  )
}

async function reset(link: Host['link'], dom: libvirt.Domain, now: PowerState): Promise<void> {
  await link.call(libvirt.domainReset, { dom, flags: 0 })
  if (now === 'paused') await link.call(libvirt.domainResume, { dom })
}

async function shutdown(
  host: Host,
  { record, dom }: Found,
  _: PowerState,
  { shutdownTimeoutMs = host.shutdownTimeoutMs }: PowerOptions,
): Promise<void> {
  const ask = (flags: number) => () => host.link.call(libvirt.domainShutdownFlags, { dom, flags })
  const { guestAgent, acpiPowerBtn } = libvirt.DomainShutdownFlags
  let off: true | undefined
  for (let left = shutdownTimeoutMs; left > 0 && !off; left -= ASK_AGAIN_MS) {
    await askGuest(ask(guestAgent), ask(acpiPowerBtn))
    off = await host.changes.until(dom.name, Math.min(left, ASK_AGAIN_MS), async () =>
      (await readPowerOf(host, dom)).power === 'off' ? true : undefined,
    )
  }
  if (!off) {
    throw new Fault(
      'timed-out',
      `VM ${record.id} did not shut down within ${shutdownTimeoutMs / 1000} s and is still on`,
      { hint: `wait and ask again, or power VM ${record.id} off`, state: 'on' },
    )
  }
  await closeShare(host, record)
}

/** The agent knows how its guest wants to be stopped; without one there is the power button. */
async function askGuest(
  byAgent: () => Promise<void>,
  byButton: () => Promise<void>,
): Promise<void> {
  try {
    await byAgent()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    await byButton().catch((again: unknown) => {
      // It obeyed before this was asked.
      if (!saysLibvirt(again, libvirt.ErrorCode.operationInvalid)) throw again
    })
  }
}

function refusal(id: string, now: PowerState, command: PowerCommand): Fault {
  const needed = powerRules[command].from.join(' or ')
  return new Fault('conflict', `VM ${id} is ${now}; '${command}' needs it to be ${needed}`, {
    state: now,
    ...(now === 'suspended' &&
      command === 'off' && {
        hint: `this would throw its memory away: turn VM ${id} on, or delete it`,
      }),
  })
}
