import { command } from '../command.ts'
import { Failure } from '../failure.ts'
import { path } from '../local-client.ts'
import { showProgress } from '../progress.ts'

export const rm = command({
  name: 'rm',
  usage: 'VM...',
  summary: 'delete VMs with their disks; clones keep theirs',
  examples: ['skerry rm web', 'skerry rm web db --force'],
  next: 'skerry list shows what is left',
  options: { force: { type: 'boolean', doc: 'pull the plug first where a VM is on' } },
  async run(world, { words, options: { force }, json }) {
    for (const id of words) {
      await showProgress(world, `deleting ${id}`, async () => {
        if (force === true) await pullPlug(world.api, id)
        await world.api.ask('DELETE', path('vms', id))
      })
      if (!json) world.print(`${id} is deleted`)
    }
    if (json) world.print(JSON.stringify({ deleted: words }, null, 2))
  },
})

type Api = Parameters<typeof rm.run>[0]['api']

/** A suspended VM cannot be turned off, and need not be: it may be deleted as it is. */
async function pullPlug(api: Api, id: string): Promise<void> {
  const where = path('vms', 'power', id)
  const { body } = await api.ask<{ message: string }>('GET', where)
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
