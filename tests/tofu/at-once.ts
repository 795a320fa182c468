// Ten applies at once, and VMs that other clients keep busy meanwhile: the cloud queues, so that no apply fails.
import type { JsonApi } from './json-api.ts'
import { Workspace, type Site, type Variables } from './workspace.ts'

const MANY = 10

/** Seconds of all applies, all changes and all deletions. */
export async function applyAtOnce(
  site: Site,
  api: JsonApi,
): Promise<Readonly<Record<'apply' | 'change' | 'destroy', number>>> {
  const all = await Promise.all(
    Array.from({ length: MANY }, async (_, number) => ({
      workspace: await Workspace.open(site, 'vm'),
      variables: { template: 'small', name: `at-once-${number}`, memory_mb: 64 },
    })),
  )
  const together = async (
    step: (workspace: Workspace, variables: Variables) => Promise<unknown>,
  ): Promise<number> => {
    const began = performance.now()
    const ended = await Promise.allSettled(
      all.map(({ workspace, variables }) => step(workspace, variables)),
    )
    const [failed] = ended.filter((each) => each.status === 'rejected')
    if (failed) throw new Error(`of ${MANY} at once, one failed`, { cause: failed.reason })
    return (performance.now() - began) / 1000
  }
  const apply = await together((workspace, variables) => workspace.apply(variables))
  const change = await together(async (workspace, variables) => {
    const state = await workspace.state()
    const vm = `/api/vApp/${state['skerry_vm.web']?.['id']}`
    await keepBusy(api, vm)
    await workspace.apply({ ...variables, memory_mb: 128 })
  })
  const destroy = await together(async (workspace, variables) => {
    await workspace.destroy(variables)
    await workspace.close()
  })
  const left = await api.names('vApp', 'name==at-once-*')
  if (left.length > 0) throw new Error(`destroy left ${left.join(', ')}`)
  return { apply, change, destroy }
}

/** Operations that wait for each other; the last one starts the VM again. */
async function keepBusy(api: JsonApi, vm: string): Promise<void> {
  for (const action of ['powerOff', 'powerOn', 'powerOff', 'powerOn']) {
    const { status, document } = await api.ask('POST', `${vm}/power/action/${action}`)
    if (status !== 202) throw new Error(`${action}: ${status} ${JSON.stringify(document)}`)
  }
}
