import { query, quoted, type Record as Found } from '@skerry/cloud-client'
import type { OptionValues } from '@skerry/command-line'
import { renderTable } from '@skerry/command-line'

import { idIn, oneNamed, vmNamed } from '../../cloud/named.ts'
import { resourceLists, typedRecord, type ResourceList } from '../../cloud/resources.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command, type Command } from '../../command.ts'
import { renderDetails } from '../../terminal/details.ts'
import { Failure } from '../../terminal/failure.ts'
import { wholeNumber } from '../../terminal/number.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'

const overAll = {
  all: { type: 'boolean', doc: 'those of all organisations (cloud administrators only)' },
} as const

const listOptions = (limit: number | undefined) =>
  ({
    filter: {
      type: 'string',
      value: 'FILTER',
      doc: 'only matching rows, in the syntax of the query API',
    },
    limit: {
      type: 'string',
      value: 'N',
      doc: `maximum number of rows (default: ${limit ?? 'all'})`,
    },
  }) as const

const byIds = {
  quiet: { type: 'boolean', doc: 'print only ids, one per line' },
} as const

type ListOptions = ReturnType<typeof listOptions> & typeof overAll & typeof byIds

const listOf = ({ word, what, ...row }: ResourceList): Command =>
  command({
    name: `${word} list`,
    asks: 'cloud',
    usage: '',
    summary: `list the ${what} of a cloud that you have access to`,
    examples: [`skerry ${word} list`, `skerry ${word} list --filter '${row.filter}'`],
    next: row.next,
    options: {
      ...listOptions(row.limit),
      ...(row.allOrgs !== undefined && overAll),
      ...(row.place !== undefined && byIds),
    },
    async run(context, { options, json }) {
      const { filter, limit, all, quiet } = options as OptionValues<ListOptions>
      const { cloud } = sessionIn(context)
      const type = (all === true ? row.allOrgs : undefined) ?? row.kind.type
      const most = wholeNumber('--limit', limit) ?? row.limit
      const requested = {
        type,
        ...row.order,
        ...(filter !== undefined && { filter }),
        ...(most !== undefined && { limit: most }),
      }
      const rows = await Array.fromAsync(query(cloud, requested))
      if (json) return context.print(JSON.stringify(rows.map(typedRecord), null, 2))
      if (quiet === true) {
        for (const { href } of rows) context.print(idIn(href))
        return
      }
      return context.print(renderTable(row.columns, rows, context.colours))
    },
  })

const infoOf = ({ word, kind, next }: ResourceList, place: string): Command =>
  command({
    name: `${word} info`,
    asks: 'cloud',
    usage: place,
    summary: `show the details of one ${kind.called}`,
    examples: [`skerry ${word} info main`],
    next,
    async run(context, { words: [name = ''], json }) {
      const found = typedRecord(await recordNamed(sessionIn(context), kind, name))
      if (json) return context.print(JSON.stringify(found, null, 2))
      const rows = Object.entries(found).map(([key, value]) => [key, String(value)] as const)
      return context.print(renderDetails(rows))
    },
  })

/** The query record of a resource; among several of the same name, the one with its href. */
async function recordNamed(
  side: CloudSession,
  kind: ResourceList['kind'],
  word: string,
): Promise<Found> {
  const { href, name } =
    kind.type === 'vm' ? await vmNamed(side, word) : await oneNamed(side, kind, word)
  for await (const found of query(side.cloud, {
    type: kind.type,
    filter: `name==${quoted(name)}`,
  })) {
    if (idIn(found['href']) === idIn(href)) return found
  }
  throw new Failure('refused', `there is no ${kind.called} ${word}`, { hint: kind.listed })
}

export const resourceCommands: readonly Command[] = resourceLists.flatMap((each) => [
  ...(each.otherwise?.list === true ? [] : [listOf(each)]),
  ...(each.place === undefined || each.otherwise?.info === true ? [] : [infoOf(each, each.place)]),
])
