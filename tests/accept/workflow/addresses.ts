// Every non-public address of the workflow server, with ids of resources that never existed: read from its own route table.
import { join } from 'node:path'

interface Row {
  readonly method: string
  readonly path: string
  readonly permission: string
}

const NOBODYS = '01980000-0000-7000-8000-00000000abcd'
const TABLE = join(import.meta.dirname, '../../../apps/workflow/src/routes.ts')

export async function readAddresses(): Promise<
  readonly (readonly [method: string, path: string])[]
> {
  const { routes } = (await import(TABLE)) as { readonly routes: readonly Row[] }
  return routes
    .filter(({ permission }) => permission !== 'anyone')
    .map(({ method, path }) => [method, path.replaceAll(/:\w+/g, NOBODYS)])
}
