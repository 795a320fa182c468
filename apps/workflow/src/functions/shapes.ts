import { Type } from '@skerry/schema'

import { closed } from './function.ts'

const Text = Type.String()
const MaybeText = Type.Union([Type.String(), Type.Null()])

/** A VM as functions return it. */
export const Vm = Type.Object(
  {
    id: Text,
    href: Text,
    name: Text,
    status: Type.String({
      description:
        'UNRESOLVED, RESOLVED, POWERED_ON, POWERED_OFF, SUSPENDED, UNKNOWN, FAILED_CREATION or INCONSISTENT_STATE',
    }),
    vapp: Text,
    cpus: Type.Number(),
    memoryMB: Type.Number(),
    diskMB: Type.Number(),
    address: MaybeText,
    network: MaybeText,
    nested: Type.Boolean(),
    snapshot: Type.Union([
      Type.Object({ name: MaybeText, created: Text, poweredOn: Type.Boolean() }, closed),
      Type.Null(),
    ]),
  },
  closed,
)

export const Vapp = Type.Object(
  { id: Text, href: Text, name: Text, status: Text, owner: Text, vms: Type.Array(Vm) },
  closed,
)

export const Named = Type.String({ minLength: 1, maxLength: 128 })
export const Metadata = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Integer(), Type.Boolean()]),
)
/** The maximum wait of a function: a run that must wait longer calls it again. */
export const Seconds = Type.Integer({ minimum: 1, maximum: 3600 })
