// The errands that only a client of vmd has, each with a check from outside that it was done.
import { Fault } from '@skerry/fault'
import { until } from '@skerry/lab'

import { create, power, remove } from './errands.ts'
import type { Errand } from './insist.ts'
import type { Rounds } from './lane.ts'
import type { VmdClient } from './vmd-client.ts'

type VmdErrand = Errand<VmdClient>

/** The timeout of one wait for a starting guest. The last look may take 30 s more, and all of it must be less than a hang. */
const START_MS = 20_000
const FIRST_PORT = 21_000

const forward = (id: string, hostPort: number): VmdErrand => ({
  what: `forward of port ${hostPort} to ${id}`,
  run: (vmd) => vmd.addForward(id, { hostPort, guestPort: 22 }),
  isDone: (vmd) => hasForward(vmd, id, hostPort),
})

const unforward = (id: string, hostPort: number): VmdErrand => ({
  what: `removal of the forward of port ${hostPort} to ${id}`,
  run: (vmd) => vmd.removeForward(id, hostPort),
  isDone: async (vmd) => !(await hasForward(vmd, id, hostPort)),
})

const label = (id: string, tag: string): VmdErrand => ({
  what: `tag of ${id}`,
  run: (vmd) => vmd.configureVm(id, { tag }),
  isDone: async (vmd) => (await vmd.readVm(id)).tag === tag,
})

const takeOver = (name: string, file: string): VmdErrand => ({
  what: `import of template ${name}`,
  run: (vmd) => vmd.importTemplate(name, file),
  isDone: (vmd) => hasTemplate(vmd, name),
})

const dropTemplate = (name: string): VmdErrand => ({
  what: `removal of template ${name}`,
  run: (vmd) => vmd.deleteTemplate(name),
  isDone: async (vmd) => !(await hasTemplate(vmd, name)),
})

/** A booting guest reacts to neither its agent nor the button. */
const waitUp = (id: string): VmdErrand => ({
  what: `start of the guest of ${id}`,
  run: async (vmd) => {
    const isUp = () => vmd.pingGuest(id)
    await until(`${id} is up`, isUp, START_MS).catch((cause: unknown) => {
      if (!/in vain/.test(String(cause))) throw cause
      throw new Fault('timed-out', `${id} still starts`, { cause })
    })
  },
  isDone: (vmd) => vmd.pingGuest(id),
})

/** Rounds around a running guest, with VMs and templates of this name prefix. */
export const vmdRounds =
  (image: string) =>
  (guest: string, temporary: string): Rounds<VmdClient> => {
    const port = FIRST_PORT + Number(/\d+$/.exec(guest)?.[0])
    return {
      forwards: [forward(guest, port), unforward(guest, port)],
      settings: [create(temporary), label(temporary, 'red'), remove(temporary)],
      templates: [takeOver(temporary, image), dropTemplate(temporary)],
      shutdown: [
        create(temporary),
        power(temporary, 'on'),
        waitUp(temporary),
        power(temporary, 'shutdown'),
        remove(temporary),
      ],
    }
  }

async function hasForward(vmd: VmdClient, id: string, hostPort: number): Promise<boolean> {
  return (await vmd.listForwards(id)).some((each) => each.hostPort === hostPort)
}

async function hasTemplate(vmd: VmdClient, name: string): Promise<boolean> {
  return (await vmd.listTemplates()).some((template) => template.name === name)
}
