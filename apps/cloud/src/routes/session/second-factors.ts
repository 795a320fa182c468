import type { RequestContext } from '../../context.ts'
import { at } from '../../dialect/addresses.ts'
import {
  newSecondFactor,
  recoveryCodes,
  secondFactor,
  secondFactors as list,
} from '../../documents/second-factor.ts'
import { Hrefs } from '../../http/links.ts'
import { route } from '../../http/route.ts'
import { secondFactorCode } from '../../params/second-factors/code.ts'
import { secondFactorParams } from '../../params/second-factors/second-factor.ts'
import { newRecoveryCodes } from '../../second-factors/recovery-codes.ts'
import {
  addSecondFactor,
  confirmSecondFactor,
  dropSecondFactor,
  noFactor,
  replaceRecoveryCodes,
  requirePerson,
  wholeFactors,
} from '../../second-factors/second-factors.ts'
import { otpauthAddress, SECRET_BYTES, toBase32 } from '../../second-factors/totp.ts'

const newSecret = ({ secret }: RequestContext): Buffer =>
  Buffer.from(secret(), 'base64url').subarray(0, SECRET_BYTES)

const codesIn = ({ secret }: RequestContext) => newRecoveryCodes(() => secret())

export const secondFactors = [
  route({
    name: 'listSecondFactors',
    method: 'GET',
    path: at.secondFactors,
    permission: 'session',
    withoutSecondFactor: true,
    answers: { 200: 'secondFactors' },
    doc: 'The second factors of the caller, how many recovery codes are left, and whether the organisation requires a second factor. Never a secret.',
    async handle(context, caller) {
      const { principal } = caller
      const found = await context.as(principal, (tx) => wholeFactors(tx, principal))
      return { status: 200, body: list(found, caller, new Hrefs(context.base)) }
    },
  }),
  route({
    name: 'addSecondFactor',
    method: 'POST',
    path: at.secondFactors,
    permission: 'session',
    withoutSecondFactor: true,
    takesCode: true,
    takes: secondFactorParams,
    answers: { 201: 'newSecondFactor' },
    doc: 'Adds a second factor: an app that makes codes (TOTP). The secret is returned only here. It counts after it is confirmed, within 15 minutes. An account that has a confirmed one needs a code of it. Users whom an identity server proves have their second factor there. Passkeys are added in the web UI, and are listed and removed as the others are.',
    async handle(context, caller) {
      const { principal, body, code } = caller
      requirePerson(principal)
      const isProved = code !== undefined && (await context.requireProof(principal, code))
      const secret = newSecret(context)
      const close = context.seal.close.bind(context.seal)
      const made = await context.as(principal, (tx) =>
        addSecondFactor(tx, principal, { name: body.name, secret, close, isProved }),
      )
      const hrefs = new Hrefs(context.base)
      const user = `${principal.user}@${principal.orgName}`
      const shown = {
        address: otpauthAddress(secret, user, context.base.hostname),
        secret: toBase32(secret),
      }
      return {
        status: 201,
        headers: { location: hrefs.secondFactor(made.id) },
        body: newSecondFactor(made, shown, caller, hrefs),
      }
    },
  }),
  route({
    name: 'readSecondFactor',
    method: 'GET',
    path: at.secondFactor,
    permission: 'session',
    withoutSecondFactor: true,
    answers: { 200: 'secondFactor' },
    doc: 'A second factor of the caller: when it was added and last used. Never its secret.',
    async handle({ base }, caller) {
      return {
        status: 200,
        body: secondFactor(caller.params.secondFactor, caller, new Hrefs(base)),
      }
    },
  }),
  route({
    name: 'confirmSecondFactor',
    method: 'POST',
    path: at.confirmSecondFactor,
    permission: 'session',
    withoutSecondFactor: true,
    takes: secondFactorCode,
    answers: { 200: 'recoveryCodes' },
    doc: 'Confirms a second factor with a code of it: from then on a password alone does not log in. For the first one, the response has ten recovery codes, which are never shown again, and other unconfirmed ones end; later the list is empty.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      requirePerson(principal)
      const codes = await context.as(principal, (tx) =>
        confirmSecondFactor(tx, principal, params.secondFactor, {
          code: body.code,
          now: context.clock.now(),
          open: (sealed, about) => context.seal.open(sealed, about),
          newCodes: () => codesIn(context),
        }),
      )
      return { status: 200, body: recoveryCodes(codes, caller) }
    },
  }),
  route({
    name: 'deleteSecondFactor',
    method: 'DELETE',
    path: at.secondFactor,
    permission: 'session',
    takesCode: true,
    answers: { 204: 'nothing' },
    doc: 'Removes a second factor. One that is confirmed needs a code of the account. With the last one, the recovery codes end.',
    async handle(context, { principal, params, code }) {
      requirePerson(principal)
      const { secondFactor: row } = params
      const isProved = row.confirmed && (await context.requireProof(principal, code))
      await context.as(principal, (tx) => dropSecondFactor(tx, principal, row, isProved))
      return { status: 204 }
    },
  }),
  route({
    name: 'replaceRecoveryCodes',
    method: 'POST',
    path: at.replaceRecoveryCodes,
    permission: 'session',
    takesCode: true,
    answers: { 200: 'recoveryCodes' },
    doc: 'Makes ten new recovery codes, which are never shown again; earlier ones end. It needs a code of the account.',
    async handle(context, caller) {
      const { principal, code } = caller
      requirePerson(principal)
      if (!(await context.requireProof(principal, code))) throw noFactor()
      const codes = await context.as(principal, (tx) =>
        replaceRecoveryCodes(tx, principal, codesIn(context)),
      )
      return { status: 200, body: recoveryCodes(codes, caller) }
    },
  }),
]
