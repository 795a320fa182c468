// The life of an example: created, changed, imported, changed by another client, destroyed. Every plan says what is so.
import type { Example } from './cases.ts'
import type { JsonApi } from './json-api.ts'
import { Workspace, type Ended, type Site, type Variables } from './workspace.ts'

/** Seconds of each step. */
export type Seconds = Readonly<Record<string, number>>

export async function live(site: Site, api: JsonApi, example: Example): Promise<Seconds> {
  const seconds: Record<string, number> = {}
  const noted = (step: string, { seconds: took }: Ended): void => {
    seconds[step] = took
  }
  const { first, changed } = example
  const workspace = await Workspace.open(site, example.name)
  const requireSame = async (within: Workspace, variables: Variables, when: string) => {
    const { differs, ended } = await within.plan(variables)
    if (differs) throw new Error(`${example.name}: a difference ${when}:\n${ended.text}`)
    seconds['plan'] = ended.seconds
  }
  noted('apply', await workspace.apply(first))
  await requireSame(workspace, first, 'after apply')
  noted('change', await workspace.apply(changed))
  await requireSame(workspace, changed, 'after the change')

  const state = await workspace.state()
  const imported = await Workspace.open(site, example.name)
  for (const [address, id] of Object.entries(example.ids(state))) {
    noted('import', await imported.import(changed, address, id))
  }
  await requireSame(imported, changed, 'after the import')
  await imported.close()

  await example.drift(api, state)
  const drifted = await workspace.plan(changed)
  if (!drifted.differs) throw new Error(`${example.name}: the drift is not seen`)
  noted('repair', await workspace.apply(changed))
  await requireSame(workspace, changed, 'after the repair')

  const last = await workspace.state()
  noted('destroy', await workspace.destroy(changed))
  const left = await example.left(api, last)
  if (left.length > 0) throw new Error(`${example.name}: destroy left ${left.join(', ')}`)
  await workspace.close()
  return seconds
}
