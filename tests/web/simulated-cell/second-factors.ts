// Second factors of the simulated cell: one code of the app and one recovery code are right, and nothing is counted.
import type { SimulatedCaller } from './callers.ts'
import { KIND, uuidOf } from './inventory.ts'
import { answer, first, noContent, row, type SimulatedRequest, type SimulatedRow } from './row.ts'
import { readBody, sendError } from './send.ts'
import { media } from './vm-documents.ts'

export const CODE_HEADER = 'x-cloud-second-factor'
export const APP_CODE = '123456'
export const RECOVERY_CODE = 'abcd-efgh-ijkl-mnop'
const LISTED = 'session/secondFactors'
const listHref = '/api/session/secondFactors'
const CREATED = '2026-11-18T06:00:00.000Z'

interface SimulatedFactor {
  readonly owner: string
  readonly name: string
  isConfirmed: boolean
}

/** By number; undefined: removed. Frida has one, Alice has not finished to add one. */
const factors: (SimulatedFactor | undefined)[] = [
  { owner: 'frida@eng', name: 'phone', isConfirmed: true },
  { owner: 'alice@eng', name: 'tablet', isConfirmed: false },
]

const ownerOf = ({ user, org }: SimulatedCaller): string => `${user}@${org}`
const hrefOf = (n: number): string => `${listHref}/${uuidOf(KIND.secondFactor, n)}`
const hasConfirmed = (owner: string): boolean =>
  factors.some((each) => each?.owner === owner && each.isConfirmed)

/** Whether the caller may only add a second factor: Ines works for an organisation that requires one. */
export const isLimited = (caller: SimulatedCaller): boolean =>
  ownerOf(caller) === 'ines@eng' && !hasConfirmed(ownerOf(caller))

/** What the code in a request proves. */
export function proofOf(
  caller: SimulatedCaller,
  { headers }: SimulatedRequest['request'],
): 'proved' | 'missing' | 'wrong' {
  if (!hasConfirmed(ownerOf(caller))) return 'proved'
  const code = headers[CODE_HEADER]
  if (code === undefined) return 'missing'
  return code === APP_CODE || code === RECOVERY_CODE ? 'proved' : 'wrong'
}

function documentOf(n: number) {
  const factor = factors[n]
  if (!factor) return undefined
  const href = hrefOf(n)
  const { name, isConfirmed } = factor
  return {
    id: `urn:skerry:secondfactor:${uuidOf(KIND.secondFactor, n)}`,
    name,
    href,
    kind: 'TOTP',
    confirmed: isConfirmed,
    created: CREATED,
    ...(isConfirmed && { lastUsed: CREATED }),
    link: [
      { rel: 'remove', href },
      ...(isConfirmed ? [] : [{ rel: 'confirm', href: `${href}/action/confirm` }]),
    ],
  }
}

const recoveryCodes = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `${n}bcd-efgh-ijkl-mnop`)

/** Runs the work if the request has a right code, or the caller needs none. */
const proved =
  (handle: SimulatedRow['handle']): SimulatedRow['handle'] =>
  (request) => {
    const proof = proofOf(request.caller, request.request)
    if (proof === 'proved') return handle(request)
    const [status, code] =
      proof === 'missing' ? ([401, 'SECOND_FACTOR'] as const) : ([403, 'FORBIDDEN'] as const)
    return sendError(request.response, status, code, `the code is ${proof}`)
  }

export const secondFactorRows: readonly SimulatedRow[] = [
  row('GET', LISTED, (request) => {
    const owner = ownerOf(request.caller)
    const replace = { rel: 'replaceRecoveryCodes', href: `${listHref}/action/replaceRecoveryCodes` }
    answer(request, {
      link: [
        { rel: 'add', href: listHref, type: media('secondFactorParams') },
        ...(hasConfirmed(owner) ? [replace] : []),
      ],
      secondFactor: factors.flatMap((each, n) =>
        each?.owner === owner ? (documentOf(n) ?? []) : [],
      ),
      recoveryCodesLeft: hasConfirmed(owner) ? 9 : 0,
      required: owner === 'ines@eng',
    })
  }),
  row(
    'POST',
    LISTED,
    proved(async (request) => {
      const { name } = await readBody(request.request)
      const owner = ownerOf(request.caller)
      const n = factors.push({ owner, name: String(name), isConfirmed: false }) - 1
      const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
      const account = encodeURIComponent(`cloud.example:${owner}`)
      answer(
        request,
        {
          ...documentOf(n),
          address: `otpauth://totp/${account}?secret=${secret}&issuer=cloud.example&algorithm=SHA1&digits=6&period=30`,
          secret,
        },
        201,
      )
    }),
  ),
  row('POST', `${LISTED}/UUID/action/confirm`, async (request) => {
    const factor = factors[first(request)]
    const { code } = await readBody(request.request)
    if (!factor) return answer(request, undefined)
    if (code !== APP_CODE) return sendError(request.response, 400, 'INVALID', 'the code is wrong')
    const isFirst = !hasConfirmed(factor.owner)
    factor.isConfirmed = true
    answer(request, { code: recoveryCodes(isFirst ? 10 : 0) })
  }),
  row(
    'POST',
    `${LISTED}/action/replaceRecoveryCodes`,
    proved((request) => answer(request, { code: recoveryCodes(10) })),
  ),
  row('DELETE', `${LISTED}/UUID`, (request) => {
    const remove: SimulatedRow['handle'] = () => {
      factors[first(request)] = undefined
      noContent(request)
    }
    return factors[first(request)]?.isConfirmed ? proved(remove)(request) : remove(request)
  }),
  row('POST', 'admin/user/UUID/action/removeSecondFactors', (request) => {
    for (const [n, each] of factors.entries()) {
      if (each?.owner === 'frida@eng') factors[n] = undefined
    }
    noContent(request)
  }),
]
