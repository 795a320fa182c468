// Where the boxes and lines of the drawing of who reaches whom stand: outside, external networks, edge gateways, networks, VMs, one
// column each.
import type { Passage, ReachFacts, ReachGateway, ReachNetwork } from './reach.ts'

export type ReachTone = 'plain' | 'strong' | 'soft' | 'bad'

export interface ReachText {
  readonly text: string
  readonly tone: ReachTone
}

export interface ReachBox {
  readonly key: string
  readonly kind: 'outside' | 'external' | 'gateway' | 'network' | 'isolated' | 'vms'
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly texts: readonly ReachText[]
}

export interface ReachLine {
  readonly key: string
  readonly x1: number
  readonly y1: number
  readonly x2: number
  readonly y2: number
  /** plain: packets of both directions. */
  readonly passage: Passage | 'plain'
  readonly label: string
}

export interface ReachPlan {
  readonly width: number
  readonly height: number
  readonly boxes: readonly ReachBox[]
  readonly lines: readonly ReachLine[]
}

/** Words of the page. */
export interface ReachPlanWords {
  readonly outside: string
  readonly otherwise: string
  readonly kind: (network: ReachNetwork) => string
  readonly vms: (n: number) => string
  readonly more: (n: number) => string
}

const MARGIN = 16
const LINE = 18
const PADDING = 20
const GAP = 18
/** Of a published port: its line and the words above it. */
const PORT = 30
const columns = {
  outside: { x: MARGIN, width: 84 },
  external: { x: 140, width: 120 },
  gateway: { x: 530, width: 200 },
  network: { x: 780, width: 160 },
  vms: { x: 980, width: 170 },
} as const
const WIDTH = 1150 + MARGIN

const heightOf = (texts: number): number => PADDING + texts * LINE

const networkTexts = (network: ReachNetwork, words: ReachPlanWords): ReachText[] => [
  { text: network.name, tone: 'strong' },
  ...(network.range === '' ? [] : [{ text: network.range, tone: 'plain' } as const]),
  { text: words.kind(network), tone: 'soft' },
]

function vmTexts({ vms, vmNames }: ReachNetwork, words: ReachPlanWords): ReachText[] {
  if (vmNames.length === 0) return [{ text: words.vms(vms), tone: 'plain' }]
  const more = vms - vmNames.length
  return [
    ...vmNames.map((text): ReachText => ({ text, tone: 'plain' })),
    ...(more > 0 ? [{ text: words.more(more), tone: 'soft' } as const] : []),
  ]
}

/** A network with its VMs, from `y` down. */
function placeNetwork(network: ReachNetwork, y: number, words: ReachPlanWords) {
  const texts = networkTexts(network, words)
  const vms = vmTexts(network, words)
  const height = Math.max(heightOf(texts.length), heightOf(vms.length))
  const middle = y + height / 2
  const box = (
    kind: ReachBox['kind'],
    { x, width }: { readonly x: number; readonly width: number },
    lines: readonly ReachText[],
  ): ReachBox => ({
    key: `${kind} ${network.href}`,
    kind,
    x,
    y: middle - heightOf(lines.length) / 2,
    width,
    height: heightOf(lines.length),
    texts: lines,
  })
  const { network: at, vms: end } = columns
  return {
    height,
    middle,
    boxes: [
      box(network.kind === 'isolated' ? 'isolated' : 'network', at, texts),
      box('vms', end, vms),
    ],
    line: plainLine(`vms ${network.href}`, at.x + at.width, middle, end.x, middle),
  }
}

const plainLine = (key: string, x1: number, y1: number, x2: number, y2: number): ReachLine => ({
  key,
  x1,
  y1,
  x2,
  y2,
  passage: 'plain',
  label: '',
})

/** What comes in: one arrow for each published port, and one for all else. */
const arrowsOf = (
  gateway: ReachGateway,
  words: ReachPlanWords,
): readonly { readonly label: string; readonly passage: Passage }[] => [
  ...gateway.ports.map(({ outside, inside, passage }) => ({
    label: `${outside} → ${inside}`,
    passage,
  })),
  { label: words.otherwise, passage: gateway.otherwise === 'allow' ? 'open' : 'blocked' },
]

/** An edge gateway, its published ports on its outer side, and its networks. */
function placeGateway(
  gateway: ReachGateway,
  networks: readonly ReachNetwork[],
  y: number,
  words: ReachPlanWords,
) {
  let inner = y
  const placed = networks.map((network) => {
    const at = placeNetwork(network, inner, words)
    inner += at.height + GAP
    return at
  })
  const texts: ReachText[] = [
    { text: gateway.name, tone: 'strong' },
    { text: gateway.address, tone: 'plain' },
    ...gateway.outDrops.map(({ text }): ReachText => ({ text: `✕ ${text}`, tone: 'bad' })),
  ]
  const arrows = arrowsOf(gateway, words)
  const height = Math.max(
    inner - y - (networks.length > 0 ? GAP : 0),
    heightOf(texts.length),
    PADDING + arrows.length * PORT,
  )
  const { external, gateway: column } = columns
  const from = external.x + external.width
  const first = y + (height - arrows.length * PORT) / 2 + PORT - 6
  const middle = y + height / 2
  const box: ReachBox = {
    key: `gateway ${gateway.href}`,
    kind: 'gateway',
    x: column.x,
    y,
    width: column.width,
    height,
    texts,
  }
  return {
    height,
    middle,
    boxes: [box, ...placed.flatMap(({ boxes }) => boxes)],
    lines: [
      ...arrows.map(({ label, passage }, at): ReachLine => ({
        key: `${gateway.href} ${label}`,
        x1: from,
        y1: first + at * PORT,
        x2: column.x,
        y2: first + at * PORT,
        passage,
        label,
      })),
      ...placed.flatMap((each, at) => [
        each.line,
        plainLine(
          `${gateway.href} ${networks[at]?.href ?? ''}`,
          column.x + column.width,
          each.middle,
          columns.network.x,
          each.middle,
        ),
      ]),
    ],
  }
}

/** The external networks in the order in which gateways and direct networks name them. */
const externalsOf = ({ gateways, networks }: ReachFacts): readonly string[] => [
  ...new Set([
    ...gateways.map(({ external }) => external),
    ...networks.flatMap(({ kind, external }) =>
      kind === 'direct' && external !== undefined ? [external] : [],
    ),
  ]),
]

/** A direct network: nothing stands between it and its external network. */
function placeDirect(network: ReachNetwork, y: number, words: ReachPlanWords) {
  const placed = placeNetwork(network, y, words)
  const { external, network: column } = columns
  const line = plainLine(
    `direct ${network.href}`,
    external.x + external.width,
    placed.middle,
    column.x,
    placed.middle,
  )
  return { ...placed, lines: [placed.line, line] }
}

const isDirectOn = ({ kind, external }: ReachNetwork, name: string): boolean =>
  kind === 'direct' && external === name

export function planReach(facts: ReachFacts, words: ReachPlanWords): ReachPlan {
  const boxes: ReachBox[] = []
  const lines: ReachLine[] = []
  const { outside, external } = columns
  let y = MARGIN
  for (const name of externalsOf(facts)) {
    const top = y
    for (const gateway of facts.gateways.filter((each) => each.external === name)) {
      const inner = facts.networks.filter((each) => gateway.networks.includes(each.name))
      const placed = placeGateway(gateway, inner, y, words)
      boxes.push(...placed.boxes)
      lines.push(...placed.lines)
      y += placed.height + GAP
    }
    for (const network of facts.networks.filter((each) => isDirectOn(each, name))) {
      const placed = placeDirect(network, y, words)
      boxes.push(...placed.boxes)
      lines.push(...placed.lines)
      y += placed.height + GAP
    }
    const height = y - GAP - top
    const middle = top + height / 2
    boxes.push({
      key: `external ${name}`,
      kind: 'external',
      ...external,
      y: top,
      height,
      texts: [{ text: name, tone: 'strong' }],
    })
    lines.push(plainLine(`outside ${name}`, outside.x + outside.width, middle, external.x, middle))
  }
  if (boxes.length > 0) {
    boxes.push({
      key: 'outside',
      kind: 'outside',
      ...outside,
      y: MARGIN,
      height: y - GAP - MARGIN,
      texts: [{ text: words.outside, tone: 'strong' }],
    })
  }
  const behind = new Set(facts.gateways.flatMap(({ networks }) => networks))
  const apart = facts.networks.filter(({ name, kind }) => !behind.has(name) && kind !== 'direct')
  for (const network of apart) {
    const placed = placeNetwork(network, y, words)
    boxes.push(...placed.boxes)
    lines.push(placed.line)
    y += placed.height + GAP
  }
  return { width: WIDTH, height: y - GAP + MARGIN, boxes, lines }
}
