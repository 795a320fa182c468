import { checkForm } from '@skerry/serverless-workflow'

import { at, WorkflowHrefs } from '../documents/addresses.ts'
import { field, list, resource } from '../documents/document.ts'
import { relations } from '../documents/link.ts'
import { declaredParameters, formPart } from '../documents/parameters.ts'
import { route } from '../http/route.ts'
import { readVersion } from '../store/workflows.ts'
import { valuesOf } from '../values/read.ts'
import { executionContext } from './executions.ts'

/** The code that clients of this API expect for a missing or invalid value. */
const CODE = 'VCO-CNS0002'

export const presentation = [
  route({
    name: 'readPresentation',
    method: 'GET',
    path: at.presentation,
    permission: 'workflow:read',
    answers: { 200: 'presentation' },
    doc: 'Returns the inputs of a workflow: its parameters, and the form as a JSON Schema.',
    async handle(context, { principal, params: { workflow } }) {
      const { form } = await context.as(principal, (tx) => readVersion(tx, workflow))
      const hrefs = new WorkflowHrefs(context.base)
      const href = hrefs.below(workflow.id, 'presentation')
      const up = { rel: 'up', href: hrefs.workflow(workflow.id) }
      const parts = [relations([up, { rel: 'add', href: `${href}instances/` }])]
      const body = resource(
        'presentation',
        { href },
        ...parts,
        field('name', workflow.name),
        field('description', workflow.description),
        declaredParameters('input-parameters', form),
        formPart(form),
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
    doc: 'Validates these parameters and returns the errors of each. Starts nothing.',
    async handle(context, { principal, params: { workflow }, body: inputs }) {
      const { form } = await context.as(principal, (tx) => readVersion(tx, workflow))
      const given = valuesOf(form, inputs)
      const checked = await checkForm(form ?? undefined, given, context.findInvalid)
      const complaints = 'complaints' in checked ? checked.complaints : []
      const body = resource(
        'presentation-instance',
        {},
        field('valid', complaints.length === 0),
        list(
          'messages',
          complaints.map((each) =>
            resource(
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
