import { linkTo, metadataIn } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { childrenByLocalName, attribute, element, text } from '@skerry/xml'

import { sessionIn } from '../../cloud/session-in.ts'
import { follow } from '../../cloud/task.ts'
import { findVm } from '../../cloud/vm.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'
import { readLabel, type Label } from './read-label.ts'

const columns: readonly TableColumn<Label>[] = [
  { head: 'KEY', cell: ({ key }) => key },
  { head: 'VALUE', cell: ({ value }) => value },
]

/** Where the metadata of a VM is: its labels are the entries. */
async function metadataOf(side: CloudSession, word: string): Promise<string> {
  const { document } = await findVm(side, word)
  return linkTo(document, 'down', 'metadata')
}

async function labelsAt({ cloud }: CloudSession, href: string): Promise<readonly Label[]> {
  const entries = Object.entries(metadataIn(await cloud.get(href)))
  return entries.map(([key, value]) => ({ key, value: String(value) }))
}

const list = command({
  name: 'label list',
  asks: 'cloud',
  usage: 'VM',
  summary: 'list the labels of a VM, which put it into security groups',
  examples: ['skerry label list web', 'skerry label list web --json'],
  next: 'skerry label set VM KEY=VALUE sets one',
  async run(context, { words: [word = ''], json }) {
    const side = sessionIn(context)
    const labels = await labelsAt(side, await metadataOf(side, word))
    const { print, colours } = context
    print(json ? JSON.stringify(labels, null, 2) : renderTable(columns, labels, colours))
  },
})

const set = command({
  name: 'label set',
  asks: 'cloud',
  usage: 'VM KEY=VALUE...',
  summary: 'set labels of a VM, also while it runs; its other labels stay',
  examples: ['skerry label set web role=web', 'skerry label set web role=web stage=live'],
  next: 'skerry security-group list shows the labels of the security groups',
  async run(context, { words: [word = '', ...written], json }) {
    const side = sessionIn(context)
    const entries = written
      .map(readLabel)
      .map(({ key, value }) =>
        element('MetadataEntry', {}, element('Key', {}, key), element('Value', {}, value)),
      )
    const how = { label: `labelling ${word}`, wait: true, json }
    await doAndSay(context, how, async (doing) => {
      const href = await metadataOf(side, word)
      const body = element('Metadata', {}, ...entries)
      await follow(side, await side.cloud.act('POST', href, { body }), doing)
      const labels = await labelsAt(side, href)
      return { text: `${word} has ${written.join(' and ')}`, body: labels }
    })
  },
})

const rm = command({
  name: 'label rm',
  asks: 'cloud',
  usage: 'VM KEY...',
  summary: 'remove labels of a VM, also while it runs',
  examples: ['skerry label rm web role'],
  next: 'skerry label list VM lists the others',
  async run(context, { words: [word = '', ...keys], json }) {
    const side = sessionIn(context)
    const how = { label: `labelling ${word}`, wait: true, json }
    await doAndSay(context, how, async (doing) => {
      const href = await metadataOf(side, word)
      const found = childrenByLocalName(await side.cloud.get(href), 'MetadataEntry').map(
        (entry) => ({
          key: text(childrenByLocalName(entry, 'Key')[0]) ?? '',
          href: attribute(entry, 'href') ?? '',
        }),
      )
      const unknown = keys.find((key) => !found.some((entry) => entry.key === key))
      if (unknown !== undefined) {
        throw new Failure('refused', `${word} has no label ${unknown}`, {
          hint: `skerry label list ${word} lists them`,
        })
      }
      for (const entry of found.filter(({ key }) => keys.includes(key))) {
        await follow(side, await side.cloud.act('DELETE', entry.href), doing)
      }
      const labels = await labelsAt(side, href)
      return { text: `label ${keys.join(', ')} of ${word} is removed`, body: labels }
    })
  },
})

export const label: readonly Command[] = [list, set, rm]
