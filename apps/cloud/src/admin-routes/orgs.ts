import type { OrgId } from '@skerry/vm'

import type { RequestContext } from '../context.ts'
import type { Tx } from '../database/tables.ts'
import { at } from '../dialect/addresses.ts'
import * as documents from '../documents/admin/orgs.ts'
import type { Principal } from '../domain/authorize.ts'
import { Hrefs } from '../http/links.ts'
import { readRoute, route } from '../http/route.ts'
import { changedOrg, changedVdc, newOrg, newVdc } from '../params/admin.ts'
import { readLeaseRule } from '../tenants/leases.ts'
import { orgsSeenBy, vdcsOf, type OrgRow } from '../tenants/orgs.ts'
import { readQuota, readUsage } from '../tenants/quotas.ts'
import {
  accountsOf,
  changeLeases,
  changeOrg,
  changeQuota,
  changeVdc,
  insertOrg,
  insertVdc,
} from '../tenants/tenants.ts'

const whole = async (tx: Tx, org: OrgRow): Promise<documents.WholeOrg> => ({
  org,
  quota: await readQuota(tx, org.id),
  used: await readUsage(tx, org.id),
  leases: await readLeaseRule(tx, org.id),
  accounts: await accountsOf(tx, org.id),
  vdcs: await vdcsOf(tx, org.id),
})

const setEnabled = (
  context: RequestContext,
  principal: Principal,
  org: OrgRow,
  enabled: boolean,
): Promise<OrgRow> => context.as(principal, (tx) => changeOrg(tx, principal, org, { enabled }))

const enabling = (enabled: boolean) =>
  route({
    name: enabled ? 'enableOrg' : 'disableOrg',
    method: 'POST',
    path: enabled ? at.enableOrg : at.disableOrg,
    permission: 'cloud:admin',
    answers: { 204: 'nothing' },
    doc: enabled
      ? 'Enables an organisation: its users have access again.'
      : 'Disables an organisation: its users have no access from then on; its VMs stay as they are.',
    async handle(context, { principal, params }) {
      await setEnabled(context, principal, params.org, enabled)
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
    doc: 'Entry point for administrators: the organisations, and the rights of each role.',
    async handle(context, caller) {
      const orgs = await context.as(caller.principal, (tx) => orgsSeenBy(tx, caller.principal))
      return { status: 200, body: documents.cloud(orgs, caller, new Hrefs(context.base)) }
    },
  }),
  route({
    name: 'addOrg',
    method: 'POST',
    path: at.adminOrgs,
    permission: 'cloud:admin',
    takes: newOrg,
    answers: { 201: 'admin.org' },
    doc: 'Creates an organisation, without users and vdcs.',
    async handle(context, caller) {
      const { principal, body } = caller
      const made = await context.as(principal, async (tx) =>
        whole(tx, await insertOrg(tx, principal, body.name)),
      )
      const hrefs = new Hrefs(context.base)
      const headers = { location: hrefs.adminOrg(made.org.id) }
      return { status: 201, headers, body: documents.adminOrg(made, caller, hrefs) }
    },
  }),
  readRoute({
    name: 'readAdminOrg',
    path: at.adminOrg,
    permission: 'org:admin',
    answers: { 200: 'admin.org' },
    doc: 'An organisation as its administrators see it: users, vdcs, whether it is enabled.',
    read: (tx, { org }) => whole(tx, org),
    show: ({ base }, caller, found) => ({
      status: 200,
      body: documents.adminOrg(found, caller, new Hrefs(base)),
    }),
  }),
  route({
    name: 'changeOrg',
    method: 'PUT',
    path: at.adminOrg,
    permission: 'cloud:admin',
    takes: changedOrg,
    answers: { 200: 'admin.org' },
    doc: 'Changes name, quota or leases of an organisation, enables or disables it, requires a second factor of its users with a password or does not. What the body does not contain stays; a limit missing in Quota means unlimited, a time missing in Leases means 0: no limit.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const found = await context.as(principal, async (tx) => {
        const { quota, leases, ...rest } = body
        if (quota) await changeQuota(tx, principal, params.org, quota)
        if (leases) await changeLeases(tx, principal, params.org, leases)
        return whole(tx, await changeOrg(tx, principal, params.org, rest))
      })
      return { status: 200, body: documents.adminOrg(found, caller, new Hrefs(context.base)) }
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
    doc: 'Creates a vdc in the organisation.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const org: OrgId = params.org.id
      const made = await context.as(principal, (tx) => insertVdc(tx, principal, org, body.name))
      const hrefs = new Hrefs(context.base)
      const headers = { location: hrefs.adminVdc(made.id) }
      return { status: 201, headers, body: documents.adminVdc(made, caller, hrefs) }
    },
  }),
  route({
    name: 'readAdminVdc',
    method: 'GET',
    path: at.adminVdc,
    permission: 'org:admin',
    answers: { 200: 'admin.vdc' },
    doc: 'A vdc as administrators see it.',
    async handle({ base }, caller) {
      return { status: 200, body: documents.adminVdc(caller.params.vdc, caller, new Hrefs(base)) }
    },
  }),
  route({
    name: 'changeVdc',
    method: 'PUT',
    path: at.adminVdc,
    permission: 'cloud:admin',
    takes: changedVdc,
    answers: { 200: 'admin.vdc' },
    doc: 'Renames a vdc, enables or disables it. Nothing can be created in a disabled vdc.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const row = await context.as(principal, (tx) => changeVdc(tx, principal, params.vdc, body))
      return { status: 200, body: documents.adminVdc(row, caller, new Hrefs(context.base)) }
    },
  }),
]
