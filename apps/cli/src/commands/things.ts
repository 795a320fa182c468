import { query, quoted, type Record as Found } from '@skerry/cloud-client'

import { idIn, oneNamed, vmNamed } from '../cloud-named.ts'
import { sideIn, type CloudSide } from '../cloud-side.ts'
import { things, typedRecord, type Things } from '../cloud-things.ts'
import { command, type Command, type Values } from '../command.ts'
import { renderDetails } from '../details.ts'
import { Failure } from '../failure.ts'
import { wholeNumber } from '../number.ts'
import { renderTable } from '../table.ts'

const overAll = {
  all: { type: 'boolean', doc: 'of all organisations, for administrators of the cloud' },
} as const

const listOptions = (limit: number | undefined) =>
  ({
    filter: {
      type: 'string',
      value: 'FILTER',
      doc: 'only these, as the queries of a cloud read it',
    },
    limit: { type: 'string', value: 'N', doc: `so many at most; ${limit ?? 'all'} unless told` },
  }) as const

const byIds = {
  quiet: { type: 'boolean', doc: 'print nothing but ids, one per line' },
} as const

type ListOptions = ReturnType<typeof listOptions> & typeof overAll & typeof byIds

const listOf = ({ word, what, ...row }: Things): Command =>
  command({
    name: `${word} list`,
    asks: 'cloud',
    usage: '',
    summary: `the ${what} of a cloud that you may see`,
    examples: [`skerry ${word} list`, `skerry ${word} list --filter '${row.filter}'`],
    next: row.next,
    options: {
      ...listOptions(row.limit),
      ...(row.allOrgs !== undefined && overAll),
      ...(row.place !== undefined && byIds),
    },
    async run(world, { options, json }) {
      const { filter, limit, all, quiet } = options as Values<ListOptions>
      const { cloud } = sideIn(world)
      const type = (all === true ? row.allOrgs : undefined) ?? row.kind.type
      const most = wholeNumber('--limit', limit) ?? row.limit
      const asked = {
        ...{ type, ...row.order },
        ...(filter !== undefined && { filter }),
        ...(most !== undefined && { limit: most }),
      }
      const rows = await Array.fromAsync(query(cloud, asked))
      if (json) return world.print(JSON.stringify(rows.map(typedRecord), null, 2))
      if (quiet === true) {
        for (const { href } of rows) world.print(idIn(href))
        return
      }
      return world.print(renderTable(row.columns, rows, world.colours))
    },
  })

const infoOf = ({ word, kind, next }: Things, place: string): Command =>
  command({
    name: `${word} info`,
    asks: 'cloud',
    usage: place,
    summary: `all that a list knows of one ${kind.called}`,
    examples: [`skerry ${word} info main`],
    next,
    async run(world, { words: [name = ''], json }) {
      const found = typedRecord(await recordNamed(sideIn(world), kind, name))
      if (json) return world.print(JSON.stringify(found, null, 2))
      const rows = Object.entries(found).map(([key, value]) => [key, String(value)] as const)
      return world.print(renderDetails(rows))
    },
  })

/** The record of what is meant; of several of one name the one that has its address. */
async function recordNamed(side: CloudSide, kind: Things['kind'], word: string): Promise<Found> {
  const { href, name } =
    kind.type === 'vm' ? await vmNamed(side, word) : await oneNamed(side, kind, word)
  for await (const found of query(side.cloud, {
    ...{ type: kind.type, filter: `name==${quoted(name)}` },
  })) {
    if (idIn(found['href']) === idIn(href)) return found
  }
  throw new Failure('refused', `${word} is no ${kind.called}`, { hint: kind.listed })
}

export const thingCommands: readonly Command[] = things.flatMap((each) => [
  ...(each.otherwise?.list === true ? [] : [listOf(each)]),
  ...(each.place === undefined || each.otherwise?.info === true ? [] : [infoOf(each, each.place)]),
])
