import { linkOf } from '@skerry/cloud-client'
import type { Element } from '@skerry/xml'

import {
  cardsIn,
  cardSectionIn,
  connectCard,
  disconnectCard,
  type SeenCard,
} from '../../cloud/cards.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { follow, underWay } from '../../cloud/task.ts'
import { findVm } from '../../cloud/vm.ts'
import { waitOptions, wantsWait } from '../../cloud/waiting.ts'
import { command, type Command } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { Failure } from '../../terminal/failure.ts'
import { countingNumber } from '../../terminal/number.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'
import type { ChangeOptions, CommandResult } from '../../vms/vm-backend.ts'

const cardOption = {
  card: { type: 'string', value: 'N', doc: 'which card of the VM (default: 0, the first)' },
} as const

const addressesOf = ({ address, ipv6 }: SeenCard): string => {
  const all = [address, ipv6].filter((each) => each !== null)
  return all.length === 0 ? '' : `, address ${all.join(' and ')}`
}

interface CardChange {
  readonly word: string
  readonly index: number
  /** Undefined: the VM has no such card. */
  readonly changed: (section: Element) => Element | undefined
  readonly said: (card: SeenCard) => string
  readonly next: string
}

/** Reads the cards, changes one, and sends all of them back: the cloud replaces them as a whole. */
async function changeCard(
  side: CloudSession,
  { word, index, changed, said, next }: CardChange,
  doing: ChangeOptions,
): Promise<CommandResult> {
  const { document, href } = await findVm(side, word)
  const section = cardSectionIn(document)
  const edit = section && linkOf(section, 'edit')
  if (!section || edit === undefined) {
    throw new Failure('refused', `the cards of ${word} cannot be changed`, {
      hint: `the cloud needs networks across hosts (skerry network list), and ${side.profile.user} the right vm:edit`,
    })
  }
  const body = changed(section)
  if (!body) {
    const cards = cardsIn(section).map((each) => each.index)
    throw new Failure('refused', `${word} has no card ${index}`, {
      hint: `its cards: ${cards.join(', ')}`,
    })
  }
  const begun = await follow(side, await side.cloud.act('PUT', edit, { body }), doing)
  if (begun && !begun.ended) return underWay(word, begun.id)
  const now = cardSectionIn(await side.cloud.get(href))
  const card = now && cardsIn(now).find((each) => each.index === index)
  if (!card) throw new Failure('refused', `${word} lost card ${index} in the meantime`)
  const { network, address, ipv6, connected } = card
  const shown = { vm: word, card: index, network, address, ipv6, connected }
  return { text: said(card), body: shown, next }
}

const connect = command({
  name: 'connect',
  asks: 'cloud',
  usage: 'VM NETWORK',
  summary: 'connect a card of a VM to a network; the VM must be off if the network is another one',
  examples: [
    'skerry connect web backend',
    'skerry connect web backend --card 1 --address 192.168.10.7',
  ],
  next: 'skerry start VM; skerry disconnect VM pulls the cable',
  options: {
    ...cardOption,
    address: {
      type: 'string',
      value: 'ADDRESS',
      doc: 'its address there (default: the cloud chooses one)',
    },
    ...waitOptions,
  },
  async run(context, { words: [word = '', network = ''], options, json }) {
    const side = sessionIn(context)
    const index = countingNumber('--card', options.card) ?? 0
    const { address } = options
    const how = { label: `connecting ${word}`, wait: wantsWait(options), json }
    await doAndSay(context, how, (doing) =>
      changeCard(
        side,
        {
          word,
          index,
          changed: (section) => connectCard(section, { index, network, address }),
          said: (card) => `card ${index} of ${word} is on network ${network}${addressesOf(card)}`,
          next: `skerry info ${word}`,
        },
        doing,
      ),
    )
  },
})

const disconnect = command({
  name: 'disconnect',
  asks: 'cloud',
  usage: 'VM',
  summary: 'disconnect a card of a VM, also while it runs: as if somebody pulled its cable',
  examples: ['skerry disconnect web', 'skerry disconnect web --card 1'],
  next: 'skerry connect VM NETWORK plugs it in again, with the same address',
  options: { ...cardOption, ...waitOptions },
  async run(context, { words: [word = ''], options, json }) {
    const side = sessionIn(context)
    const index = countingNumber('--card', options.card) ?? 0
    const how = { label: `disconnecting ${word}`, wait: wantsWait(options), json }
    await doAndSay(context, how, (doing) =>
      changeCard(
        side,
        {
          word,
          index,
          changed: (section) => disconnectCard(section, index),
          said: ({ network }) => `card ${index} of ${word} is disconnected from network ${network}`,
          next: `skerry connect ${word} NETWORK plugs it in again`,
        },
        doing,
      ),
    )
  },
})

export const connections: readonly Command[] = [connect, disconnect]
