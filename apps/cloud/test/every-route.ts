// What every address of the cloud's API is tried on: things of an organisation, things of nobody, and all that is written down.
import assert from 'node:assert/strict'

import type { OrgId } from '@skerry/vm'
import { readXml } from '@skerry/xml'
import { sql } from 'kysely'

import { original, ours } from '../src/http/dialect.ts'
import type { CloudRoute } from '../src/route.ts'
import { COLOUR, fresh, rows, type Row } from './rights-table.ts'
import { hrefOf, XML, type Answered, type Door } from './tenants-door.ts'

const NOBODYS = '01980000-0000-7000-8000-00000000abcd'
export const unknown: Readonly<Record<string, string>> = {
  ...{ org: NOBODYS, vdc: NOBODYS, task: NOBODYS, accessToken: NOBODYS },
  ...{ catalog: NOBODYS, upload: NOBODYS, catalogItem: NOBODYS, account: NOBODYS, host: NOBODYS },
  ...{ urn: `urn:skerry:vdc:${NOBODYS}`, key: 'colour' },
  ...{ template: `vappTemplate-${NOBODYS}`, entity: `vm-${NOBODYS}` },
  ...{ version: '5.1', file: 'master.xsd' },
}

export const rowOf = ({ name }: CloudRoute): Row => rows[name] as Row
/** In the first version that has it, from 5.1 on. */
export const acceptOf = ({ since }: CloudRoute): { readonly accept: string } => ({
  accept: since === '5.5' ? XML.replace('5.1', since) : XML,
})
export const isOpen = (route: CloudRoute): boolean => rowOf(route).least === undefined

export function pathOf(route: CloudRoute, ids: Readonly<Record<string, string>>): string {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => {
    assert.ok(ids[name], `no example of :${name}`)
    return ids[name]
  })
  return path + (rowOf(route).query ?? '')
}

/** Everything that is written down of an organisation. */
export async function everythingOf(door: Door, org: OrgId): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'org' order by 1`.execute(door.cloud.db)
  const all: unknown[] = []
  for (const { name } of tables) {
    const { rows: found } = await sql<{ row: unknown }>`
      select to_jsonb(each) as row from ${sql.table(name)} each where org = ${org} order by 1`.execute(
      door.cloud.db,
    )
    all.push([name, found])
  }
  const { rows: itself } = await sql`select to_jsonb(org) from org where id = ${org}
    union all select to_jsonb(host) from host order by 1`.execute(door.cloud.db)
  return JSON.stringify([all, itself])
}

/** All that tells one answer from another: the request's own id and the time are told to everybody. */
export function tellingOf({ status, headers, text }: Answered): unknown {
  const ids = [ours, original].map(({ requestIdHeader }) => requestIdHeader)
  const rest = Object.entries(headers).filter(([name]) => name !== 'date' && !ids.includes(name))
  return [status, Object.fromEntries(rest), text]
}

/** Things to try it on: fresh ones where trying uses them up. */
export async function idsFor(
  door: Door,
  { from, whole }: Row,
  token: string,
): Promise<Readonly<Record<string, string>>> {
  const ids: Record<string, string> = { ...door.eng.ids, version: '5.1', file: 'master.xsd' }
  const made = await door.ask('POST', '/api/session/tokens', {
    token,
    body: `<AccessTokenParams name="${fresh()}"/>`,
  })
  const upload = await door.ask('POST', `/api/catalog/${ids['catalog']}/action/upload`, {
    token: door.eng.token,
    body: `<UploadParams name="${fresh()}" size="1"/>`,
  })
  ids['upload'] = hrefOf(readXml(upload.text)).split('/').at(-1) ?? ''
  await door.ask('PUT', `/api/vApp/${ids['entity']}/metadata/colour`, {
    token: door.eng.token,
    body: COLOUR,
  })
  const accessToken = hrefOf(readXml(made.text)).split('/').at(-1) ?? ''
  if (whole) return { ...ids, accessToken, entity: door.eng.vapp }
  if (from === undefined) return { ...ids, accessToken }
  const [vm = ''] = (await door.cloud.addVms(1, from)).vms
  await sql`update vm set snapshot = 's', snapshot_at = clock_timestamp() where id = ${vm}`.execute(
    door.cloud.db,
  )
  await sql`update vm set boot = 'boot' where id = ${vm} and status = 'POWERED_ON'`.execute(
    door.cloud.db,
  )
  return { ...ids, accessToken, entity: `vm-${vm}` }
}
