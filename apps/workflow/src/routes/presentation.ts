import { carried, element } from '@skerry/xml'

import { at, Hrefs } from '../addresses.ts'
import { checkForm } from '../definition/inputs.ts'
import { field, list, thing } from '../documents/document.ts'
import { relations } from '../documents/link.ts'
import { asked } from '../documents/parameters.ts'
import { route } from '../route.ts'
import { readVersion } from '../store/workflows.ts'
import { valuesOf } from '../values/read.ts'
import { executionContext } from './executions.ts'

/** Clients of this family look for it where a value is missing or wrong. */
const CODE = 'VCO-CNS0002'

export const presentation = [
  route({
    name: 'readPresentation',
    method: 'GET',
    path: at.presentation,
    permission: 'workflow:read',
    answers: { 200: 'presentation' },
    doc: 'What a run takes: its parameters, and the form as a JSON Schema.',
    async handle(world, { who, params: { workflow } }) {
      const { form } = await world.as(who, (tx) => readVersion(tx, workflow))
      const hrefs = new Hrefs(world.base)
      const href = hrefs.below(workflow.id, 'presentation')
      const up = { rel: 'up', href: hrefs.workflow(workflow.id) }
      const said = {
        ...{ name: 'form', json: form ?? {} },
        xml: element('form', {}, carried(JSON.stringify(form ?? {}))),
      }
      const parts = [relations([up, { rel: 'add', href: `${href}instances/` }])]
      const body = thing(
        'presentation',
        { href },
        ...parts,
        field('name', workflow.name),
        field('description', workflow.description),
        asked('input-parameters', form),
        said,
      )
      return { status: 200, body }
    },
  }),
  route({
    name: 'checkPresentation',
    method: 'POST',
    path: at.presentationInstances,
    permission: 'workflow:read',
    takes: executionContext,
    answers: { 200: 'presentation-instance' },
    doc: 'Whether a run would take these parameters, and what is wrong with each. Nothing is started.',
    async handle(world, { who, params: { workflow }, body: context }) {
      const { form } = await world.as(who, (tx) => readVersion(tx, workflow))
      const checked = checkForm(form ?? undefined, valuesOf(form, context))
      const complaints = 'complaints' in checked ? checked.complaints : []
      const body = thing(
        'presentation-instance',
        {},
        field('valid', complaints.length === 0),
        list(
          'messages',
          complaints.map((each) =>
            thing(
              'message',
              { parameter: each.field },
              field('severity', 'error'),
              field('code', CODE),
              field('summary', each.message),
            ),
          ),
        ),
      )
      return { status: 200, body }
    },
  }),
]
