// Goal: administrators of the cloud make edge gateways, connect them to other external networks, and delete them.
// Method: the API over HTTP with a real PostgreSQL; a stand-in for the network server ends changes as the real one does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, readXml, text } from '@skerry/xml'
import { sql } from 'kysely'

import { addEdgeGatewayRow } from './edge-rows.ts'
import { openZone, projectAll } from './open-zone.ts'
import { find, hrefOf, openTenantsApi, type Answered, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let zone: { readonly zone: string; readonly fence: string }
let admin: string
let root: string

before(async () => {
  api = await openTenantsApi()
  zone = await openZone(api.cloud.db, api.cloud.host)
  await sql`update host set uplinks = '{out,lan}'`.execute(api.cloud.db)
  admin = await api.enter(api.eng.org, 'organisation administrator')
  root = await api.enter(api.eng.org, 'system administrator')
})
after(() => api[Symbol.asyncDispose]())

const vdc = () => api.eng.ids['vdc'] ?? ''
const at = (id: string) => `/api/admin/edgeGateway/${id}`
const idOf = ({ text: document }: Answered): string =>
  hrefOf(readXml(document)).split('/').at(-1) ?? ''

const uplink = (id: string) =>
  `<Configuration><GatewayInterfaces><GatewayInterface><Network href="https://cloud.example/api/admin/extension/externalnet/${id}"/>` +
  `<InterfaceType>uplink</InterfaceType></GatewayInterface></GatewayInterfaces></Configuration>`

const post = (token: string, name: string) =>
  api.ask('POST', `/api/admin/vdc/${vdc()}/edgeGateways`, {
    token,
    body: `<EdgeGateway name="${name}">${uplink(api.eng.ids['externalNetwork'] ?? '')}</EdgeGateway>`,
  })
const put = (token: string, id: string, body: string) => api.ask('PUT', at(id), { token, body })

const configure = async (id: string, rules: string): Promise<void> => {
  const body = `<EdgeGatewayServiceConfiguration><NatService>${rules}</NatService></EdgeGatewayServiceConfiguration>`
  const done = await api.ask('POST', `${at(id)}/action/configureServices`, { token: admin, body })
  assert.equal(done.status, 202, done.text)
}

const makeNetwork = (name: string, router: string, of: string): Promise<Answered> =>
  api.ask('POST', `/api/admin/vdc/${vdc()}/networks`, {
    token: admin,
    body:
      `<OrgVdcNetwork name="${name}"><Configuration><IpScopes><IpScope><Gateway>${router}</Gateway>` +
      `<Netmask>255.255.255.0</Netmask></IpScope></IpScopes><FenceMode>natRouted</FenceMode></Configuration>` +
      `<EdgeGateway href="https://cloud.example${at(of)}"/></OrgVdcNetwork>`,
  })

async function refused(answer: Promise<Answered>, status: number, why: RegExp): Promise<void> {
  const { status: got, text: document } = await answer
  assert.equal(got, status, document)
  assert.match(document, why)
}

const ownAddress = async (id: string): Promise<string> => {
  const { text: document } = await api.ask('GET', at(id), { token: admin })
  const path = ['GatewayInterfaces', 'GatewayInterface', 'SubnetParticipation', 'IpAddress']
  return text(find(readXml(document), 'Configuration', ...path)[0]) ?? ''
}

test('an edge gateway is connected to another external network when nothing names its addresses', async () => {
  const { db } = api.cloud
  const other = api.ops.ids['externalNetwork'] ?? ''
  assert.equal((await post(admin, 'second')).status, 403)
  const made = await post(root, 'second')
  assert.equal(made.status, 201, made.text)
  const id = idOf(made)
  const away = `<EdgeGateway>${uplink(other)}</EdgeGateway>`
  await refused(put(admin, id, away), 403, /external:admin/)
  const renamed = '<EdgeGateway name="third"><Description>ours</Description></EdgeGateway>'
  assert.equal((await put(admin, id, renamed)).status, 202)
  assert.equal((await makeNetwork('behind', '10.11.0.1', id)).status, 201)
  const rule =
    `<NatRule><RuleType>DNAT</RuleType><GatewayNatRule><OriginalIp>${await ownAddress(id)}</OriginalIp>` +
    '<OriginalPort>22</OriginalPort><TranslatedIp>10.11.0.5</TranslatedIp></GatewayNatRule></NatRule>'
  await configure(id, rule)
  await refused(put(root, id, away), 409, /has NAT rules/)
  await configure(id, '')
  await projectAll(db, zone)
  const moved = await put(root, id, away)
  assert.equal(moved.status, 202, moved.text)
  const { rows } = await sql<{ groups: number }>`
    select count(*)::integer as groups from network_change where kind = 'edge group'`.execute(db)
  assert.equal(rows[0]?.groups, 2, 'the group that it leaves is projected too')
  const held = await sql<{ external: string }>`
    select external from external_address where edge_gateway = ${id}`.execute(db)
  assert.deepEqual(held.rows, [{ external: other }])
  await refused(
    api.ask('DELETE', at(id), { token: root }),
    409,
    /network behind is behind edge gateway third/,
  )
  await sql`update network set deleted_at = clock_timestamp() where name = 'behind'`.execute(db)
  const deleted = await api.ask('DELETE', at(id), { token: root })
  assert.equal(deleted.status, 202, deleted.text)
  await projectAll(db, zone)
  const path = new URL(hrefOf(readXml(deleted.text))).pathname
  const task = await api.ask('GET', path, { token: root })
  assert.equal(attribute(readXml(task.text), 'status'), 'success')
  assert.equal((await api.ask('GET', at(id), { token: root })).status, 404)
})

test('the default edge gateway of a vdc keeps its name: renamed ones would be replaced without end', async () => {
  const made = await post(root, 'default')
  assert.equal(made.status, 201, made.text)
  await refused(put(admin, idOf(made), '<EdgeGateway name="mine"/>'), 409, /default keeps its name/)
  assert.equal((await api.ask('DELETE', at(idOf(made)), { token: root })).status, 202)
})

test('an organisation can have 20 edge gateways', async () => {
  const { db, host } = api.cloud
  const external = api.eng.ids['externalNetwork'] ?? ''
  for (let place = 0; place < 19; place += 1) {
    const row = { org: api.eng.org, vdc: vdc(), external, host, name: `many-${place}` }
    await addEdgeGatewayRow(db, row)
  }
  await refused(post(root, 'more'), 409, /at most 20 edge gateways/)
})
