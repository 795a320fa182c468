// Runs of workflows as pages show them.
import type {
  DrawnColumn,
  DrawnStep,
  TypedParameterValue,
  WorkflowParameter,
} from '../../api/workflows.ts'

const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled'])

export const hasRunEnded = (state: string): boolean => ended.has(state)

/** { string: { value: 'web' } } → 'web'. */
export function plainValue(typed: TypedParameterValue | undefined): unknown {
  const [found] = Object.entries(typed ?? {})
  if (!found) return null
  const inside = found[1] as {
    readonly value?: unknown
    readonly elements?: readonly TypedParameterValue[]
    readonly property?: readonly {
      readonly key?: string
      readonly id?: string
      readonly value: TypedParameterValue
    }[]
  }
  if (inside.elements) return inside.elements.map((each) => plainValue(each))
  if (inside.property) {
    return Object.fromEntries(
      inside.property.map(({ key, id, value }) => [key ?? id ?? '', plainValue(value)]),
    )
  }
  return inside.value ?? null
}

export const plainValues = (
  parameters: readonly WorkflowParameter[] = [],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(parameters.map(({ name, value }) => [name, plainValue(value)]))

/** All steps of a drawing, in the order in which they are written. */
export const stepsOf = ({ steps }: DrawnColumn): readonly DrawnStep[] =>
  steps.flatMap((step) => [step, ...step.columns.flatMap(stepsOf)])
