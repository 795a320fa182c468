import { Fault } from '@skerry/fault'

import { at } from '../dialect/addresses.ts'
import * as browse from '../documents/browse.ts'
import * as templates from '../documents/template.ts'
import { ExplainQuery, explaining } from '../http/explain-query.ts'
import { Hrefs } from '../http/links.ts'
import { readRoute, route } from '../http/route.ts'
import { addVmsOf } from '../inventory/compose.ts'
import { addEmptyVapp, vappsOf } from '../inventory/vapps.ts'
import { instantiate } from '../operations/vapp-operations.ts'
import { instantiateParams } from '../params/instantiate.ts'
import { createdVappResponse } from '../responses/created-vapp.ts'
import { submitTogether } from '../tasks/submit-task.ts'
import { submit } from '../tasks/submit.ts'
import { catalogsOf } from '../tenants/catalogs.ts'
import { isZoneOpen, networksIn, networksOf } from '../tenants/network-rows.ts'
import { orgsSeenBy, templatesOf, vdcsOf } from '../tenants/orgs.ts'

export const orgs = [
  route({
    name: 'listOrgs',
    method: 'GET',
    path: at.orgs,
    permission: 'org:read',
    answers: { 200: 'orgList' },
    doc: 'The organisations that the caller can see.',
    async handle(context, caller) {
      const all = await context.as(caller.principal, (tx) => orgsSeenBy(tx, caller.principal))
      return { status: 200, body: browse.orgList(all, caller, new Hrefs(context.base)) }
    },
  }),
  readRoute({
    name: 'readOrg',
    path: at.org,
    permission: 'org:read',
    answers: { 200: 'org' },
    doc: 'An organisation, with its virtual data centres, its catalogs, its networks and its tasks.',
    read: async (tx, { org }) => ({
      vdcs: await vdcsOf(tx, org.id),
      catalogs: await catalogsOf(tx, org.id),
      networks: await networksOf(tx, org.id),
    }),
    show: ({ base }, caller, inside) => ({
      status: 200,
      body: browse.org(caller.params.org, inside, caller, new Hrefs(base)),
    }),
  }),
  readRoute({
    name: 'readVdc',
    path: at.vdc,
    permission: 'org:read',
    query: ExplainQuery,
    answers: { 200: 'vdc' },
    doc: 'A virtual data centre, with its templates, its first 128 vApps by name, and query links for all of them. With ?unavailable=true it also names the actions that are not available.',
    read: async (tx, { vdc }) => ({
      templates: await templatesOf(tx, vdc.org),
      vapps: await vappsOf(tx, vdc, browse.ENTITIES_SHOWN),
      networks: await networksIn(tx, vdc),
      zoneOpen: await isZoneOpen(tx, vdc),
    }),
    show: ({ base }, requested, inside) => ({
      status: 200,
      body: browse.vdc(requested.params.vdc, inside, explaining(requested), new Hrefs(base)),
    }),
  }),
  route({
    name: 'readTemplate',
    method: 'GET',
    path: at.template,
    permission: 'org:read',
    answers: { 200: 'vAppTemplate or vm' },
    doc: 'A template for vApps, or the VM in it.',
    async handle({ base }, caller) {
      const row = caller.params.template
      const document = row.isVm ? templates.templateVm : templates.template
      return { status: 200, body: document(row, caller, new Hrefs(base)) }
    },
  }),
  route({
    name: 'instantiate',
    method: 'POST',
    path: at.instantiate,
    permission: 'vm:edit',
    takes: instantiateParams,
    answers: { 201: 'vApp' },
    doc: 'Creates a vApp from a template. Returns the document of the vApp that is being created, with its task.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const task = await submit(context, caller, async (tx, id) => {
        const { vdc } = params
        if (vdc.disabled) throw new Fault('conflict', `vdc ${vdc.name} is disabled`)
        const vapp = await addEmptyVapp(tx, { vdc, name: body.name, owner: principal.user })
        const { template, guest, nics } = body
        const wanted = { template, ...(guest && { guest }), ...(nics && { nics }) }
        await addVmsOf(tx, { org: vdc.org, vdc: vdc.id, vapp }, [wanted], context.seal)
        return submitTogether(tx, instantiate(body), { vapp, owner: principal.user, id })
      })
      return createdVappResponse(context, caller, task)
    },
  }),
]
