import type { OrgId } from '@skerry/vm'

import { at } from '../addresses.ts'
import * as documents from '../documents/admin.ts'
import { Hrefs } from '../http/links.ts'
import type { Who } from '../identity/authorize.ts'
import { changedOrg, changedVdc, newOrg, newVdc } from '../params/admin.ts'
import { route } from '../route.ts'
import { readLeaseRule } from '../store/leases.ts'
import { orgsSeenBy, vdcsOf, type OrgRow } from '../store/orgs.ts'
import { readQuota } from '../store/quotas.ts'
import {
  accountsOf,
  changeLeases,
  changeOrg,
  changeQuota,
  changeVdc,
  insertOrg,
  insertVdc,
} from '../store/tenants.ts'
import type { RequestWorld, Tx } from '../world.ts'

const whole = async (tx: Tx, org: OrgRow): Promise<documents.WholeOrg> => ({
  org,
  quota: await readQuota(tx, org.id),
  leases: await readLeaseRule(tx, org.id),
  accounts: await accountsOf(tx, org.id),
  vdcs: await vdcsOf(tx, org.id),
})

const setEnabled = (
  world: RequestWorld,
  who: Who,
  org: OrgRow,
  enabled: boolean,
): Promise<OrgRow> => world.as(who, (tx) => changeOrg(tx, who, org, { enabled }))

const enabling = (enabled: boolean) =>
  route({
    name: enabled ? 'enableOrg' : 'disableOrg',
    method: 'POST',
    path: enabled ? at.enableOrg : at.disableOrg,
    permission: 'cloud:admin',
    answers: { 204: 'nothing' },
    doc: enabled
      ? 'Lets the users of the organisation in again.'
      : 'Lets nobody of the organisation in from now on; its VMs stay as they are.',
    async handle(world, { who, params }) {
      await setEnabled(world, who, params.org, enabled)
      return { status: 204 }
    },
  })

export const adminOrgs = [
  route({
    name: 'readAdmin',
    method: 'GET',
    path: at.admin,
    permission: 'org:admin',
    answers: { 200: 'admin.cloud' },
    doc: 'Where an administrator begins: the organisations, and what each role may do.',
    async handle(world, asker) {
      const orgs = await world.as(asker.who, (tx) => orgsSeenBy(tx, asker.who))
      return { status: 200, body: documents.cloud(orgs, asker, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'addOrg',
    method: 'POST',
    path: at.adminOrgs,
    permission: 'cloud:admin',
    takes: newOrg,
    answers: { 201: 'admin.org' },
    doc: 'Makes an organisation. It has no users and no vdc yet.',
    async handle(world, asker) {
      const { who, body } = asker
      const made = await world.as(who, async (tx) => whole(tx, await insertOrg(tx, who, body.name)))
      const hrefs = new Hrefs(world.base)
      const headers = { location: hrefs.adminOrg(made.org.id) }
      return { status: 201, headers, body: documents.adminOrg(made, asker, hrefs) }
    },
  }),
  route({
    name: 'readAdminOrg',
    method: 'GET',
    path: at.adminOrg,
    permission: 'org:admin',
    answers: { 200: 'admin.org' },
    doc: 'An organisation as its administrators see it: users, vdcs, whether it is enabled.',
    async handle(world, asker) {
      const found = await world.as(asker.who, (tx) => whole(tx, asker.params.org))
      return { status: 200, body: documents.adminOrg(found, asker, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'changeOrg',
    method: 'PUT',
    path: at.adminOrg,
    permission: 'cloud:admin',
    takes: changedOrg,
    answers: { 200: 'admin.org' },
    doc: 'Gives it another name, quota or leases, enables or disables it. What the body does not name stays; a bound that a Quota does not name is none, a time that Leases do not name is 0: for ever.',
    async handle(world, asker) {
      const { who, body, params } = asker
      const found = await world.as(who, async (tx) => {
        const { quota, leases, ...rest } = body
        if (quota) await changeQuota(tx, who, params.org, quota)
        if (leases) await changeLeases(tx, who, params.org, leases)
        return whole(tx, await changeOrg(tx, who, params.org, rest))
      })
      return { status: 200, body: documents.adminOrg(found, asker, new Hrefs(world.base)) }
    },
  }),
  enabling(true),
  enabling(false),
  route({
    name: 'addVdc',
    method: 'POST',
    path: at.adminVdcs,
    permission: 'cloud:admin',
    takes: newVdc,
    answers: { 201: 'admin.vdc' },
    doc: 'Gives the organisation another place for vApps.',
    async handle(world, asker) {
      const { who, body, params } = asker
      const org: OrgId = params.org.id
      const made = await world.as(who, (tx) => insertVdc(tx, who, org, body.name))
      const hrefs = new Hrefs(world.base)
      const headers = { location: hrefs.adminVdc(made.id) }
      return { status: 201, headers, body: documents.adminVdc(made, asker, hrefs) }
    },
  }),
  route({
    name: 'readAdminVdc',
    method: 'GET',
    path: at.adminVdc,
    permission: 'org:admin',
    answers: { 200: 'admin.vdc' },
    doc: 'A vdc as administrators see it.',
    async handle({ base }, asker) {
      return { status: 200, body: documents.adminVdc(asker.params.vdc, asker, new Hrefs(base)) }
    },
  }),
  route({
    name: 'changeVdc',
    method: 'PUT',
    path: at.adminVdc,
    permission: 'cloud:admin',
    takes: changedVdc,
    answers: { 200: 'admin.vdc' },
    doc: 'Gives it another name, enables or disables it: nothing new is made in one that is disabled.',
    async handle(world, asker) {
      const { who, body, params } = asker
      const row = await world.as(who, (tx) => changeVdc(tx, who, params.vdc, body))
      return { status: 200, body: documents.adminVdc(row, asker, new Hrefs(world.base)) }
    },
  }),
]
