import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import * as browse from '../documents/browse.ts'
import { template, templateVm } from '../documents/template.ts'
import { Hrefs } from '../http/links.ts'
import { madeVapp } from '../made-vapp.ts'
import { instantiateParams } from '../params/instantiate.ts'
import { route } from '../route.ts'
import { catalogsOf } from '../store/catalogs.ts'
import { addVmsOf } from '../store/compose.ts'
import { orgsSeenBy, templatesOf, vdcsOf } from '../store/orgs.ts'
import { requireQuota } from '../store/quotas.ts'
import { submitTogether } from '../store/submit-task.ts'
import { addEmptyVapp, vappsOf } from '../store/vapps.ts'
import { submit } from '../submit.ts'
import { instantiate } from '../vapp-operations.ts'

export const orgs = [
  route({
    name: 'listOrgs',
    method: 'GET',
    path: at.orgs,
    permission: 'org:read',
    answers: { 200: 'orgList' },
    doc: 'The organisations that the caller can see.',
    async handle(world, asker) {
      const all = await world.as(asker.who, (tx) => orgsSeenBy(tx, asker.who))
      return { status: 200, body: browse.orgList(all, asker, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'readOrg',
    method: 'GET',
    path: at.org,
    permission: 'org:read',
    answers: { 200: 'org' },
    doc: 'An organisation, with its virtual data centres, its catalogs and its tasks.',
    async handle(world, asker) {
      const { org } = asker.params
      const inside = await world.as(asker.who, async (tx) => ({
        vdcs: await vdcsOf(tx, org.id),
        catalogs: await catalogsOf(tx, org.id),
      }))
      return { status: 200, body: browse.org(org, inside, asker, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'readVdc',
    method: 'GET',
    path: at.vdc,
    permission: 'org:read',
    answers: { 200: 'vdc' },
    doc: 'A virtual data centre, with what can be made in it, its first 128 vApps by name, and a query for all of them.',
    async handle(world, asker) {
      const { vdc } = asker.params
      const inside = await world.as(asker.who, async (tx) => ({
        templates: await templatesOf(tx, vdc.org),
        vapps: await vappsOf(tx, vdc, browse.ENTITIES_SHOWN),
      }))
      return { status: 200, body: browse.vdc(vdc, inside, asker, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'readTemplate',
    method: 'GET',
    path: at.template,
    permission: 'org:read',
    answers: { 200: 'vAppTemplate' },
    doc: 'A template that vApps can be made of, or the VM in it.',
    async handle({ base }, asker) {
      const row = asker.params.template
      const document = row.isVm ? templateVm : template
      return { status: 200, body: document(row, asker, new Hrefs(base)) }
    },
  }),
  route({
    name: 'instantiate',
    method: 'POST',
    path: at.instantiate,
    permission: 'vm:edit',
    takes: instantiateParams,
    answers: { 201: 'vApp' },
    doc: 'Makes a vApp of a template: the document of one that is being made, with its task.',
    async handle(world, asker) {
      const { who, body, params } = asker
      const task = await submit(world, asker, async (tx, id) => {
        const { vdc } = params
        if (vdc.disabled) throw new Fault('conflict', `vdc ${vdc.name} is disabled`)
        const vapp = await addEmptyVapp(tx, { vdc, name: body.name, owner: who.user })
        const { guest } = body
        const wanted = { template: body.template, ...(guest && { guest }) }
        await addVmsOf(tx, { org: vdc.org, vapp }, [wanted], world.seal)
        const submitted = await submitTogether(tx, instantiate(body), {
          ...{ vapp, owner: who.user, id },
        })
        await requireQuota(tx, vdc.org, 'make', ...(body.power ? (['start'] as const) : []))
        return submitted
      })
      return madeVapp(world, asker, task)
    },
  }),
]
