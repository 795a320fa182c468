import type { CliContext } from '../command.ts'
import { Failure } from '../terminal/failure.ts'
import { path, type LocalClient } from '../vms/local-client.ts'
import type { VmChanger, ChangeOptions, TemplateEntry, VmBackend } from '../vms/vm-backend.ts'
import { cloudsOnly } from './not-on-local.ts'
import { longWork } from './operation.ts'
import { vmdReading } from './reading.ts'

interface VmdMessage {
  readonly code: number
  readonly message: string
}

type Needs = Pick<CliContext, 'api' | 'now' | 'wait'>

/** Operations on the VMs of this machine. */
export const vmdVerbs = (needs: Needs): VmBackend => ({
  ...vmdReading(needs),
  ...vmdChanging(needs),
})

function vmdChanging({ api, wait }: Needs): VmChanger {
  const said = async (...requested: Parameters<LocalClient['ask']>) =>
    (await api.ask<VmdMessage>(...requested)).body
  return {
    async create({ start, vdc, networks, ...wanted }, doing) {
      requireWait(doing)
      if (vdc !== undefined) throw cloudsOnly('--vdc')
      if (networks !== undefined) throw cloudsOnly('--network')
      const { id } = wanted
      const body = await longWork({ api, wait }, doing.report, 'POST', path('vms'), wanted)
      if (start) await api.ask('PATCH', path('vms', 'power', id), { body: 'on' })
      return start
        ? { text: `${id} is created and powered on`, body }
        : { text: `${id} is created`, body, next: `skerry start ${id}` }
    },
    async clone(parentid, wanted, doing) {
      requireWait(doing)
      const requested = { parentid, ...wanted }
      const body = await longWork({ api, wait }, doing.report, 'POST', path('vms'), requested)
      return { text: `${wanted.id} is created from ${parentid}`, body }
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
    async restart(id, how, doing) {
      requireWait(doing)
      return { text: `${id} is restarting`, body: await said('POST', path('vms', id, how)) }
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
      return { text: `snapshot ${snapshot.name} of ${id} is taken`, body }
    },
    async revert(id, name, doing) {
      requireWait(doing)
      const body = await said('POST', path('vms', id, 'snapshots', name, 'revert'))
      return { text: `${id} is reverted to ${name}, ${body.message}`, body }
    },
    async forget(id, name, doing) {
      requireWait(doing)
      await api.ask('DELETE', path('vms', id, 'snapshots', name))
      return { text: `snapshot ${name} is deleted`, body: { removed: name } }
    },
    async importTemplate({ name, file, sha256, isDefault, catalog, cpus, memoryMiB }, { report }) {
      if (catalog !== undefined) throw cloudsOnly('--catalog')
      if ((cpus ?? memoryMiB) !== undefined) throw cloudsOnly('--cpus or --memory')
      const where = isDefault ? `${path('templates')}?default` : path('templates')
      const requested = { name, file, sha256 }
      const body = await longWork<TemplateEntry>({ api, wait }, report, 'POST', where, requested)
      return { text: `template ${body.name} is ready`, body }
    },
  }
}

function requireWait({ wait }: ChangeOptions): void {
  if (!wait) throw cloudsOnly('--no-wait')
}

/** Powers a VM off before it is deleted. A suspended VM cannot be powered off, and can be deleted as it is. */
async function pullPlug(api: LocalClient, id: string): Promise<void> {
  const where = path('vms', 'power', id)
  const { body } = await api.ask<VmdMessage>('GET', where)
  if (body.message === 'suspended') return
  try {
    await api.ask('PATCH', where, { body: 'off' })
  } catch (error) {
    if (!(error instanceof Failure) || error.reason === 'unreachable') throw error
    throw new Failure(error.reason, `${id} cannot be powered off: ${error.message}`, {
      hint: error.hint,
      cause: error,
      body: error.body,
    })
  }
}
