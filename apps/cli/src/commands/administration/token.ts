import { linkTo } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { attribute, childrenByLocalName, text, type Element } from '@skerry/xml'

import { accountIn, userHref } from '../../cloud/admin-user.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'

interface Token {
  readonly name: string
  readonly made: string
  /** Absent if never used. */
  readonly used?: string
  /** Absent if it is valid until revoked. */
  readonly expires?: string
}

const columns: readonly TableColumn<Token>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'CREATED', cell: ({ made }) => made },
  { head: 'LAST USED', cell: ({ used }) => used ?? 'never' },
  { head: 'EXPIRES', cell: ({ expires }) => expires ?? 'never' },
]

function tokenIn(document: Element): Token {
  const used = text(childrenByLocalName(document, 'LastUsed')[0])
  const expires = text(childrenByLocalName(document, 'Expires')[0])
  return {
    name: attribute(document, 'name') ?? '',
    made: text(childrenByLocalName(document, 'DateCreated')[0]) ?? '',
    ...(used !== undefined && { used }),
    ...(expires !== undefined && { expires }),
  }
}

/** The documents of the caller's tokens, or of another user's. */
async function tokensOf(side: CloudSession, user: string | undefined): Promise<readonly Element[]> {
  const href =
    user === undefined
      ? '/api/session/tokens'
      : linkTo(
          await side.cloud.get(await userHref(side, accountIn(side, user))),
          'down',
          'accessTokens',
        )
  return childrenByLocalName(await side.cloud.get(href), 'AccessToken')
}

const of = {
  user: {
    type: 'string',
    value: 'USER',
    doc: 'a user of your organisation, or USER@ORG, for administrators (default: you)',
  },
} as const

export const token = [
  command({
    name: 'token list',
    asks: 'cloud',
    usage: '',
    summary: 'list API tokens: name, creation, last use and end, never the token itself',
    examples: ['skerry token list', 'skerry token list --user rita'],
    next: 'skerry token revoke NAME revokes one',
    options: of,
    async run(context, { options, json }) {
      const tokens = (await tokensOf(sessionIn(context), options.user)).map(tokenIn)
      context.print(
        json ? JSON.stringify(tokens, null, 2) : renderTable(columns, tokens, context.colours),
      )
    },
  }),
  command({
    name: 'token revoke',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'revoke an API token at once, everywhere, with the sessions that began with it',
    examples: ['skerry token revoke nightly', 'skerry token revoke nightly --user rita@blue'],
    next: 'skerry token list lists the others',
    options: of,
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const found = (await tokensOf(side, options.user)).find(
        (each) => attribute(each, 'name') === name,
      )
      if (!found) {
        const whose = options.user === undefined ? '' : ` --user ${options.user}`
        throw new Failure('refused', `there is no token ${name}`, {
          hint: `skerry token list${whose} lists them`,
        })
      }
      await side.cloud.act('DELETE', attribute(found, 'href') ?? '')
      context.print(json ? JSON.stringify({ revoked: name }, null, 2) : `token ${name} is revoked`)
    },
  }),
]
