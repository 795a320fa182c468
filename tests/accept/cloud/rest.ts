// Actions other than power: metadata, API tokens, tasks, and administration; then every link.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { attribute, text } from '@skerry/xml'

import { holdAll } from '../../../apps/cloud/test/held-to-schema.ts'
import { SHARED, type Ledger } from './links.ts'
import { logIn, nodesIn, skip, tenant, there, vmsOf } from './place.ts'

const hrefOf = (node: Parameters<typeof attribute>[0]): string => attribute(node, 'href') ?? ''

/** The entry points of a client: its session, and what is not linked from there. */
/** An identity server that does not exist: a test of it reports that. */
const DIRECTORY =
  '<IdentityProvider name="corp" kind="ldap"><Url>ldaps://127.0.0.1:1</Url><Reader>cn=reader</Reader>' +
  '<Password>long enough</Password><Base>dc=corp</Base></IdentityProvider>'
/** A webhook whose server is not on the list of the egress: a test of it reports that. */
const WEBHOOK = '<Webhook name="siem"><Url>https://siem.example/</Url></Webhook>'
const BEGINNINGS = ['/api/session', '/api/session/tokens']

export function testRest(ledger: Ledger): void {
  test(
    'metadata is added, changed and deleted; an API token is created and revoked',
    { skip },
    async () => {
      const client = await logIn(tenant())
      const body = '<ComposeVAppParams name="noted"/>'
      await ledger.act(client, tenant().vdc, 'add', body, 'composeVApp')
      const list = await client.get('/api/query?type=vApp&filter=name==noted&fields=name')
      const vapp = hrefOf(nodesIn(list, 'VAppRecord')[0])
      const entry = '<MetadataEntry><Key>colour</Key><Value>red</Value></MetadataEntry>'
      await ledger.act(client, `${vapp}/metadata`, 'add', `<Metadata>${entry}</Metadata>`)
      const value = `${vapp}/metadata/colour`
      await ledger.act(client, value, 'edit', '<MetadataValue><Value>blue</Value></MetadataValue>')
      assert.match((await client.ask('GET', value)).text, /blue/)
      await ledger.act(client, value, 'remove')
      // A vApp without VMs is RESOLVED; it is renamed, shared and deleted.
      assert.equal(attribute(await client.get(vapp), 'status'), '1')
      await ledger.act(client, vapp, 'edit', '<VApp name="empty"/>')
      await ledger.act(client, vapp, 'recompose', '<RecomposeVAppParams/>')
      await ledger.follow(client, vapp, 'controlAccess', { body: SHARED })
      await ledger.follow(client, `${vapp}/controlAccess`, 'controlAccess', { body: SHARED })
      const copied = `<CloneVAppParams name="copy"><Source href="${vapp}"/></CloneVAppParams>`
      const copy = await ledger.follow(client, tenant().vdc, 'add', {
        body: copied,
        end: 'cloneVApp',
      })
      await ledger.act(client, hrefOf(copy.root), 'remove')
      await ledger.act(client, vapp, 'remove')
      assert.equal((await client.ask('GET', vapp)).status, 404)

      const named = '<AccessTokenParams name="nightly"/>'
      const made = await ledger.follow(client, '/api/session/tokens', 'add', { body: named })
      const token = text(nodesIn(made.root, 'Token')[0]) ?? ''
      const script = { 'x-cloud-authorization': token }
      const requested = () => client.ask('GET', '/api/org', { headers: script })
      assert.equal((await requested()).status, 200)
      const gone = await ledger.follow(client, hrefOf(made.root), 'remove')
      assert.equal(gone.status, 204)
      assert.equal((await requested()).status, 401)
    },
  )

  test('a running task is canceled by its link', { skip }, async () => {
    const client = await logIn(tenant())
    const body = `<InstantiateVAppTemplateParams name="never mind"><Source href="${tenant().template}"/></InstantiateVAppTemplateParams>`
    const made = await client.ask('POST', `${tenant().vdc}/action/instantiateVAppTemplate`, {
      body,
    })
    const [task] = nodesIn(nodesIn(made.root, 'Tasks')[0], 'Task')
    const [link] = nodesIn(task, 'Link')
    assert.equal(attribute(link, 'rel'), 'task:cancel')
    assert.equal((await client.ask('POST', hrefOf(link))).status, 204)
    assert.ok(task && link)
    ledger.note(task, link)
    const ended = await client.ended(hrefOf(task))
    // It may have been too late for that.
    assert.ok(['canceled', 'success'].includes(attribute(ended, 'status') ?? ''))
    const vapp = hrefOf(made.root)
    const [vm] = await vmsOf(client, vapp)
    if (vm !== undefined && attribute(await client.get(vm), 'status') === '4') {
      await ledger.act(client, vapp, 'power:powerOff')
    }
    await ledger.act(client, vapp, 'remove')
  })

  test(
    'an administrator creates an organisation with a user and a vdc, changes them and disables it',
    { skip },
    async () => {
      const ruler = await logIn(there().cloud.admin)
      const follow = (from: string, rel: string, body = '', end = '') =>
        ledger.follow(ruler, from, rel, { body, end })
      const made = await follow('/api/admin', 'add', '<AdminOrg name="red"/>')
      const org = hrefOf(made.root)
      await follow(org, 'edit', '<AdminOrg><Quota vms="3"/></AdminOrg>')
      const user = await follow(
        ...([org, 'add'] as const),
        '<User name="rita"><Role name="author"/><Password>long enough</Password></User>',
        'users',
      )
      await follow(hrefOf(user.root), 'edit', '<User><Role name="user"/></User>')
      assert.equal((await follow(hrefOf(user.root), 'removeSecondFactors')).status, 204)
      const rights = '<Right>org:read</Right><Right>vm:read</Right>'
      const reader = `<OrgRole name="reader">${rights}</OrgRole>`
      const role = hrefOf((await follow(`${org}/roles`, 'add', reader)).root)
      await follow(hrefOf(user.root), 'edit', '<User><Role name="reader"/></User>')
      await follow(role, 'edit', '<OrgRole><Right>org:read</Right></OrgRole>')
      await follow(hrefOf(user.root), 'edit', '<User><Role name="user"/></User>')
      assert.equal((await follow(role, 'remove')).status, 204)
      const vdc = await follow(org, 'add', '<AdminVdc name="main"/>', 'vdcs')
      await follow(hrefOf(vdc.root), 'edit', '<AdminVdc name="other"/>')
      const web = '<SecurityGroup name="web"/>'
      const group = hrefOf((await follow(org, 'add', web, 'securityGroups')).root)
      await follow(group, 'edit', '<SecurityGroup><Inbound/></SecurityGroup>')
      assert.equal((await follow(group, 'remove')).status, 204)
      const again = hrefOf((await follow(`${org}/securityGroups`, 'add', web)).root)
      assert.equal((await follow(again, 'remove')).status, 204)
      const server = hrefOf((await follow(`${org}/identityProviders`, 'add', DIRECTORY)).root)
      await follow(server, 'edit', DIRECTORY)
      await follow(server, 'edit', '<GroupRoles/>', 'groups')
      await follow(server, 'test')
      assert.equal((await follow(server, 'remove')).status, 204)
      const hook = hrefOf((await follow(`${org}/webhooks`, 'add', WEBHOOK)).root)
      await follow(hook, 'edit', WEBHOOK)
      await follow(hook, 'test')
      await follow(hook, 'resend', '<ResendParams><From>0-0</From></ResendParams>')
      await follow(hook, 'replaceSecret')
      assert.equal((await follow(hook, 'remove')).status, 204)
      const rita = await logIn({ org: 'red', user: 'rita', password: 'long enough' })
      assert.equal((await follow(org, 'disable')).status, 204)
      assert.equal((await rita.ask('GET', '/api/org')).status, 401, 'out at once')
      assert.equal((await follow(org, 'enable')).status, 204)
      const [host] = nodesIn(await ruler.get('/api/admin/hosts'), 'Host')
      assert.equal((await follow(hrefOf(host), 'disable')).status, 204)
      assert.equal((await follow(hrefOf(host), 'enable')).status, 204)
    },
  )

  test(
    'an administrator of the cloud creates, changes and deletes an external network',
    { skip },
    async () => {
      const ruler = await logIn(there().cloud.admin)
      const all = '/api/admin/extension/externalNetworks'
      const made = await ledger.follow(ruler, all, 'add', { body: OFFICE })
      const external = hrefOf(made.root)
      const changed = '<VMWExternalNetwork><Description>ours</Description></VMWExternalNetwork>'
      await ledger.follow(ruler, external, 'edit', { body: changed })
      assert.equal((await ledger.follow(ruler, external, 'remove')).status, 204)
    },
  )
}

const OFFICE = `<VMWExternalNetwork name="office"><Configuration><IpScopes><IpScope>
  <Gateway>203.0.113.1</Gateway><Netmask>255.255.255.0</Netmask>
  <IpRanges><IpRange><StartAddress>203.0.113.10</StartAddress><EndAddress>203.0.113.20</EndAddress></IpRange></IpRanges>
  </IpScope></IpScopes></Configuration><Uplink>office</Uplink></VMWExternalNetwork>`

/** Called while VMs are in several states, and no task runs. */
export function testWalk(ledger: Ledger, when: string): void {
  test(
    `every readable link returns 200 to the caller that it was shown to: ${when}`,
    { skip },
    async (t) => {
      const { cloud } = there()
      for (const [login, version] of [
        [tenant(), '5.1'],
        [tenant(), '1.5'],
        [tenant(1), '5.1'],
        [cloud.admin, '5.1'],
      ] as const) {
        const { documents, links } = await ledger.walk(await logIn(login, version), BEGINNINGS)
        t.diagnostic(
          `${login.user}@${login.org}, ${version}: ${documents} documents, ${links} links`,
        )
      }
    },
  )
}

export function testAll(ledger: Ledger): void {
  test('the last link of a session ends it', { skip }, async () => {
    const client = await logIn(tenant())
    assert.equal((await ledger.follow(client, '/api/session', 'remove')).status, 204)
    assert.equal((await client.ask('GET', '/api/session')).status, 401)
  })

  test(
    'every link to an action was followed in every state of its document that showed it',
    { skip },
    (t) => {
      t.diagnostic(
        `${ledger.shown.size} kinds of links to do something, ${ledger.followed.size} followed`,
      )
      assert.deepEqual(ledger.missed, [])
    },
  )

  test(
    'every response is valid against the schema, in the requested version',
    { skip },
    async (t) => {
      const { answers, documents, shapes } = await holdAll()
      t.diagnostic(`${answers} answers with ${documents} documents of ${shapes} shapes, all valid`)
      assert.ok(documents > 500, `${documents} documents`)
    },
  )
}
