import { cloudsOnly } from './clouds-only.ts'
import type { World } from './command.ts'
import { Failure } from './failure.ts'
import { path, type LocalClient } from './local-client.ts'
import { longWork } from './operation.ts'
import type { Changing, Doing, Template, Verbs } from './verbs.ts'
import { vmdReading } from './vmd-reading.ts'

interface Said {
  readonly code: number
  readonly message: string
}

type Needs = Pick<World, 'api' | 'now' | 'wait'>

/** The VMs of this machine. */
export const vmdVerbs = (needs: Needs): Verbs => ({ ...vmdReading(needs), ...vmdChanging(needs) })

function vmdChanging({ api, wait }: Needs): Changing {
  const said = async (...asked: Parameters<LocalClient['ask']>) =>
    (await api.ask<Said>(...asked)).body
  return {
    async create({ start, vdc, ...wanted }, doing) {
      requireWait(doing)
      if (vdc !== undefined) throw cloudsOnly('--vdc')
      const { id } = wanted
      const body = await longWork({ api, wait }, doing.tell, 'POST', path('vms'), wanted)
      if (start) await api.ask('PATCH', path('vms', 'power', id), { body: 'on' })
      return start
        ? { text: `${id} is made and powered on`, body }
        : { text: `${id} is made`, body, next: `skerry start ${id}` }
    },
    async clone(parentid, wanted, doing) {
      requireWait(doing)
      const asked = { parentid, ...wanted }
      const body = await longWork({ api, wait }, doing.tell, 'POST', path('vms'), asked)
      return { text: `${wanted.id} is made from ${parentid}`, body }
    },
    async change(id, settings, doing) {
      requireWait(doing)
      const { body } = await api.ask('PATCH', path('vms', id), { body: settings })
      return { text: `${id} is changed`, body }
    },
    async power(id, word, doing) {
      requireWait(doing)
      const body = await said('PATCH', path('vms', 'power', id), { body: word })
      return { text: `${id} is ${body.message}`, body }
    },
    async startAnew(id, how, doing) {
      requireWait(doing)
      return { text: `${id} starts anew`, body: await said('POST', path('vms', id, how)) }
    },
    async remove(id, force, doing) {
      requireWait(doing)
      if (force) await pullPlug(api, id)
      await api.ask('DELETE', path('vms', id))
      return { text: `${id} is deleted`, body: { deleted: id } }
    },
    async keep(id, snapshot, doing) {
      requireWait(doing)
      const { body } = await api.ask('POST', path('vms', id, 'snapshots'), { body: snapshot })
      return { text: `${id} is kept as ${snapshot.name}`, body }
    },
    async revert(id, name, doing) {
      requireWait(doing)
      const body = await said('POST', path('vms', id, 'snapshots', name, 'revert'))
      return { text: `${id} is as it was at ${name}, ${body.message}`, body }
    },
    async forget(id, name, doing) {
      requireWait(doing)
      await api.ask('DELETE', path('vms', id, 'snapshots', name))
      return { text: `${name} is forgotten`, body: { removed: name } }
    },
    async importTemplate({ name, file, sha256, isDefault, catalog, cpus, memoryMiB }, { tell }) {
      if (catalog !== undefined) throw cloudsOnly('--catalog')
      if ((cpus ?? memoryMiB) !== undefined) throw cloudsOnly('--cpus or --memory')
      const where = isDefault ? `${path('templates')}?default` : path('templates')
      const asked = { name, file, sha256 }
      const body = await longWork<Template>({ api, wait }, tell, 'POST', where, asked)
      return { text: `template ${body.name} is there`, body }
    },
  }
}

function requireWait({ wait }: Doing): void {
  if (!wait) throw cloudsOnly('--no-wait')
}

/** A suspended VM cannot be turned off, and need not be: it may be deleted as it is. */
async function pullPlug(api: LocalClient, id: string): Promise<void> {
  const where = path('vms', 'power', id)
  const { body } = await api.ask<Said>('GET', where)
  if (body.message === 'suspended') return
  try {
    await api.ask('PATCH', where, { body: 'off' })
  } catch (error) {
    if (!(error instanceof Failure) || error.reason === 'unreachable') throw error
    throw new Failure(error.reason, `${id} cannot be turned off: ${error.message}`, {
      hint: error.hint,
      cause: error,
      body: error.body,
    })
  }
}
