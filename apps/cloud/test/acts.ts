import { operations } from '../src/operations/vm-operations.ts'

const rels = new Set(
  operations.flatMap(({ action }) =>
    action ? [action.rel, ...(action.also ? [action.also.rel] : [])] : [],
  ),
)
/** Relations of requests that submit no operation of a VM. */
const others =
  /^(add|edit|remove|enable|disable|test|resend|replace(Secret|RecoveryCodes)|confirm|removeSecondFactors|recompose|(task|upload|edgeGateway):.*|screen:acquire(Mks)?Ticket)$/

/** Whether a link of this relation is an action; all others can be read. Of controlAccess there are both. */
export const isAction = (rel: string | undefined, href = ''): boolean =>
  rel !== undefined &&
  (rels.has(rel) || others.test(rel) || (rel === 'controlAccess' && href.includes('/action/')))
