// Data for testing every route of the cloud API: resources of an organisation, missing resources, and snapshots of all stored rows.
import assert from 'node:assert/strict'

import type { OrgId, VmId } from '@skerry/vm'
import { readXml } from '@skerry/xml'
import { sql } from 'kysely'

import { original, ours } from '../src/dialect/dialect.ts'
import type { Status } from '../src/domain/vm-status.ts'
import type { CloudRoute } from '../src/http/route.ts'
import { operations } from '../src/operations/vm-operations.ts'
import type { ExampleContext, RequestDocument } from '../src/params/request-document.ts'
import type { Operation } from '../src/tasks/operation.ts'
import { edgeIdsFor } from './edge-rows.ts'
import { exampleText } from './example-text.ts'
import { makeOffered } from './make-offered.ts'
import { addNetworkRow, addSecurityGroupRow } from './network-rows.ts'
import { makeHostsReady } from './open-zone.ts'
import { addProviderRow } from './provider-row.ts'
import { COLOUR, fresh, rows, type Row } from './rights-table.ts'
import { addRoleRow } from './role-row.ts'
import { BASE, hrefOf, XML, type Answered, type TenantsApi } from './tenants-api.ts'
import { addWebhookRow } from './webhook-row.ts'

const NOBODYS = '01980000-0000-7000-8000-00000000abcd'
export const unknown: Readonly<Record<string, string>> = {
  org: NOBODYS,
  vdc: NOBODYS,
  network: NOBODYS,
  edgeGateway: NOBODYS,
  externalNetwork: NOBODYS,
  address: '203.0.113.10',
  securityGroup: NOBODYS,
  provider: NOBODYS,
  role: NOBODYS,
  webhook: NOBODYS,
  task: NOBODYS,
  accessToken: NOBODYS,
  secondFactor: NOBODYS,
  userToken: NOBODYS,
  catalog: NOBODYS,
  upload: NOBODYS,
  catalogItem: NOBODYS,
  account: NOBODYS,
  host: NOBODYS,
  console: NOBODYS,
  urn: `urn:skerry:vdc:${NOBODYS}`,
  key: 'colour',
  template: `vappTemplate-${NOBODYS}`,
  entity: `vm-${NOBODYS}`,
  version: '5.1',
  file: 'master.xsd',
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

/** The example of the document that a route takes; undefined if it takes none. */
export function exampleOf({ takes }: CloudRoute, at: ExampleContext): string | undefined {
  return takes && 'example' in takes
    ? exampleText(takes as RequestDocument<unknown>, at)
    : undefined
}

/** The addresses that an example may name. */
export const exampleAt = (
  { template = '' }: Readonly<Record<string, string>>,
  vapp: string,
  name?: string,
): ExampleContext => ({
  template: `${BASE}/api/vAppTemplate/${template}`,
  vapp: `${BASE}/api/vApp/${vapp}`,
  ...(name !== undefined && { name }),
})

/** The body of a valid request: a new name each time. */
export function bodyOf(api: TenantsApi, route: CloudRoute): string | undefined {
  const { body } = rowOf(route)
  return body ? body() : exampleOf(route, exampleAt(api.eng.ids, api.eng.vapp, fresh()))
}

/** The operations that a route submits for a VM; several if the VM decides which of them. */
export const operationsOf = ({ method, path }: CloudRoute): readonly Operation[] =>
  operations.filter(({ action }) => method === 'POST' && action && path.endsWith(`/${action.path}`))

/** The first status in which the operation of a route is allowed; undefined if it has none. */
export const startOf = (route: CloudRoute): Status | undefined => operationsOf(route)[0]?.from[0]

/** All stored rows of an organisation. */
export async function everythingOf(api: TenantsApi, org: OrgId): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'org' order by 1`.execute(api.cloud.db)
  const all: unknown[] = []
  for (const { name } of tables) {
    const { rows: found } = await sql<{ row: unknown }>`
      select to_jsonb(each) as row from ${sql.table(name)} each where org = ${org} order by 1`.execute(
      api.cloud.db,
    )
    all.push([name, found])
  }
  const { rows: itself } = await sql`select to_jsonb(org) from org where id = ${org}
    union all select to_jsonb(host) from host order by 1`.execute(api.cloud.db)
  return JSON.stringify([all, itself])
}

/** What distinguishes one response from another; the request id and the time are ignored, since every caller gets them. */
export function tellingOf({ status, headers, text }: Answered): unknown {
  const ids = [ours, original].map(({ requestIdHeader }) => requestIdHeader)
  const rest = Object.entries(headers).filter(([name]) => name !== 'date' && !ids.includes(name))
  return [status, Object.fromEntries(rest), text]
}

/** Resources to test a route with: new ones where a test uses them up. */
export async function idsFor(
  api: TenantsApi,
  route: CloudRoute,
  token: string,
): Promise<Readonly<Record<string, string>>> {
  const { from = startOf(route), whole } = rowOf(route)
  const ids: Record<string, string> = { ...api.eng.ids, version: '5.1', file: 'master.xsd' }
  const made = await api.ask('POST', '/api/session/tokens', {
    token,
    body: `<AccessTokenParams name="${fresh()}"/>`,
  })
  const upload = await api.ask('POST', `/api/catalog/${ids['catalog']}/action/upload`, {
    token: api.eng.token,
    body: `<UploadParams name="${fresh()}" size="1"/>`,
  })
  ids['upload'] = hrefOf(readXml(upload.text)).split('/').at(-1) ?? ''
  await api.ask('PUT', `/api/vApp/${ids['entity']}/metadata/colour`, {
    token: api.eng.token,
    body: COLOUR,
  })
  await makeHostsReady(api.cloud.db, route)
  if (route.path.includes(':network')) {
    const { org } = api.eng
    const row = { org, vdc: ids['vdc'] ?? '', name: fresh() }
    ids['network'] = await addNetworkRow(api.cloud.db, row)
  }
  Object.assign(ids, await edgeIdsFor(api, route, fresh()))
  if (route.path.includes(':securityGroup')) {
    ids['securityGroup'] = await addSecurityGroupRow(api.cloud.db, api.eng.org, fresh())
  }
  if (route.path.includes(':provider')) {
    ids['provider'] = await addProviderRow(api.cloud.db, api.eng.org, fresh())
  }
  if (route.path.includes(':role')) {
    ids['role'] = (await addRoleRow(api.cloud.db, api.eng.org, fresh())).id
  }
  if (route.path.includes(':webhook')) {
    ids['webhook'] = await addWebhookRow(api.cloud.db, api.eng.org, fresh())
  }
  if (route.path.includes(':secondFactor')) {
    const body = `<SecondFactorParams name="${fresh()}"/>`
    const added = await api.ask('POST', '/api/session/secondFactors', { token, body })
    ids['secondFactor'] = hrefOf(readXml(added.text)).split('/').at(-1) ?? ''
  }
  ids['accessToken'] = hrefOf(readXml(made.text)).split('/').at(-1) ?? ''
  ids['userToken'] = ids['accessToken']
  if (whole) return { ...ids, entity: api.eng.vapp }
  if (from === undefined) return ids
  const [vm = ''] = (await api.cloud.addVms(1, from)).vms
  await makeOffered(api.cloud.db, vm as VmId, operationsOf(route)[0])
  await sql`update vm set boot = 'boot' where id = ${vm} and status = 'POWERED_ON'`.execute(
    api.cloud.db,
  )
  return { ...ids, entity: `vm-${vm}` }
}
