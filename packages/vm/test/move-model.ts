// One move of one guest between two hosts, with all the states that it can be in. The rules under test decide what each
// host does after a fault; the rest is what the engine, libvirt and QEMU do by themselves.
import {
  wordOf,
  type ArrivalStage,
  type DepartureStage,
  type DomainSight,
  type MoveRules,
} from '../src/index.ts'

/** The position of the source's program in a move; 'idle' after a restart and after a failed call. */
type SourceAt =
  | 'start'
  | 'ready?'
  | 'begin'
  | 'prepare?'
  | 'perform'
  | 'perform?'
  | 'performed'
  | 'finish?'
  | 'idle'

/** A message stays in the network: it may arrive late, twice or never. */
type Message = `${'ready' | 'prepare' | 'finish' | 'ask'}${'' | ':ok' | ':landed' | ':refused'}`

export interface State {
  readonly source: {
    readonly program: 'up' | 'down'
    readonly libvirt: 'up' | 'down'
    readonly at: SourceAt
    readonly stage: DepartureStage | 'none' | 'over'
    readonly domain: DomainSight
    /** libvirt's job: QEMU copies, pauses for the last part, has copied everything. */
    readonly job: 'none' | 'begun' | 'copying' | 'switching' | 'copied' | 'failed'
    readonly lostPower: boolean
  }
  readonly target: {
    readonly program: 'up' | 'down'
    readonly libvirt: 'up' | 'down'
    readonly at: 'idle' | 'finishing'
    /** Whether it must inspect its state before it does anything else. */
    readonly heals: boolean
    readonly stage: ArrivalStage | 'none'
    readonly domain: DomainSight
    /** Whether a paused domain has all of the guest's memory. */
    readonly whole: boolean
    /** Whether its record makes it a VM of this host. */
    readonly kept: boolean
    readonly died: boolean
  }
  readonly network: readonly Message[]
  /** Whether the guest has run at the target, even for a moment. */
  readonly ran: boolean
}

export interface Step {
  readonly name: string
  readonly isFault: boolean
  readonly next: State
}

export const first: State = {
  source: {
    program: 'up',
    libvirt: 'up',
    at: 'start',
    stage: 'none',
    domain: 'running',
    job: 'none',
    lostPower: false,
  },
  target: {
    program: 'up',
    libvirt: 'up',
    at: 'idle',
    heals: false,
    stage: 'none',
    domain: 'none',
    whole: false,
    kept: false,
    died: false,
  },
  network: [],
  ran: false,
}

type Add = (name: string, next: State) => void
const source = (s: State, change: Partial<State['source']>): State => ({
  ...s,
  source: { ...s.source, ...change },
})
const target = (s: State, change: Partial<State['target']>): State => ({
  ...s,
  target: { ...s.target, ...change },
})
const send = (s: State, message: Message): State =>
  s.network.includes(message) ? s : { ...s, network: [...s.network, message].sort() }
const came = (s: State, message: Message): boolean => s.network.includes(message)

/** All possible next steps. */
export function stepsFrom(s: State, rules: MoveRules): Step[] {
  const steps: Step[] = []
  const add = (isFault: boolean) => (name: string, next: State) =>
    steps.push({ name, isFault, next })
  moveOn(s, add(false))
  copy(s, add(false))
  settleSource(s, rules, add(false))
  receive(s, add(false))
  settleTarget(s, rules, add(false))
  restart(s, add(false))
  breakDown(s, add(true))
  return steps
}

/** The source's program without faults, and how it switches to settling after a fault. */
function moveOn(s: State, add: Add): void {
  const { program, libvirt, at, job } = s.source
  if (program === 'down') return
  const asks = libvirt === 'up'
  if (at === 'start') {
    add(
      'S writes departing, asks for room',
      send(source(s, { stage: 'departing', at: 'ready?' }), 'ready'),
    )
  }
  if (at === 'ready?' && came(s, 'ready:ok')) add('S hears: ready', source(s, { at: 'begin' }))
  if (at === 'begin' && asks) {
    add('S begins', send(source(s, { at: 'prepare?', job: 'begun' }), 'prepare'))
  }
  if (at === 'prepare?' && came(s, 'prepare:ok'))
    add('S hears: prepared', source(s, { at: 'perform' }))
  if (at === 'perform' && asks && job === 'begun')
    add('S performs', source(s, { at: 'perform?', job: 'copying' }))
  if (at === 'perform?' && asks && job === 'copied')
    add('S hears: performed', source(s, { at: 'performed' }))
  if (at === 'performed') {
    add(
      'S writes handed, asks to finish',
      send(source(s, { stage: 'handed', at: 'finish?' }), 'finish'),
    )
  }
  // A lost or late answer, a rejection, or a libvirt that died.
  if (!['start', 'idle', 'performed'].includes(at))
    add(`S gives up at ${at}`, source(s, { at: 'idle' }))
}

/** The work of QEMU and libvirt. */
function copy(s: State, add: Add): void {
  const { job } = s.source
  const waits = s.target.domain === 'paused' && !s.target.whole
  if (job === 'copying' && waits)
    add('S stands still for the last part', source(s, { job: 'switching', domain: 'paused' }))
  if (job === 'switching' && waits)
    add('all is copied', target(source(s, { job: 'copied' }), { whole: true }))
  if ((job === 'copying' || job === 'switching') && !waits && s.source.libvirt === 'up') {
    add('the copy fails, S runs on', source(s, { job: 'failed', domain: 'running' }))
  }
}

/** The source's acts by the rules, given the target's answer. */
function settleSource(s: State, rules: MoveRules, add: Add): void {
  const { program, libvirt, at, stage, domain } = s.source
  if (program === 'down' || at !== 'idle' || stage === 'none' || stage === 'over') return
  const heard = (['landed', 'refused'] as const).filter(
    (word) => came(s, `ask:${word}`) || came(s, `finish:${word}`),
  )
  for (const word of ['silent', ...heard] as const) {
    const act = rules.source[stage][word]
    if (act === 'ask' && !came(s, 'ask')) add('S asks T', send(s, 'ask'))
    if (act === 'end') add('S forgets the move', source(s, { stage: 'over' }))
    if (libvirt === 'down') continue
    if (act === 'stay') {
      // It acts before it records: an interrupted act is repeated.
      if (domain === 'paused')
        add(`S, ${word}: resumes`, source(s, { domain: 'running', job: 'none' }))
      else add(`S, ${word}: writes stayed`, source(s, { stage: 'stayed', job: 'none' }))
    }
    if (act === 'leave') {
      if (stage !== 'left') add(`S, ${word}: writes left`, source(s, { stage: 'left' }))
      else if (domain !== 'none') add('S removes', source(s, { domain: 'none', job: 'none' }))
      else add('S has left', source(s, { stage: 'over' }))
    }
  }
}

/** A request reaches the target. */
function receive(s: State, add: Add): void {
  const { program, libvirt, at, heals, stage, domain } = s.target
  if (program === 'down' || at !== 'idle' || heals) return
  if (came(s, 'ready')) {
    if (stage === 'none')
      add('T writes awaiting', send(target(s, { stage: 'awaiting' }), 'ready:ok'))
  }
  if (came(s, 'prepare') && stage === 'awaiting' && domain === 'none' && libvirt === 'up') {
    add('T prepares', send(target(s, { domain: 'paused', whole: false }), 'prepare:ok'))
  }
  if (came(s, 'finish')) {
    if (stage === 'awaiting')
      add('T writes landed', target(s, { stage: 'landed', at: 'finishing' }))
    if (stage === 'landed' && s.target.kept) add('T says it landed', send(s, 'finish:landed'))
    if (stage === 'refused') add('T says it refused', send(s, 'finish:refused'))
  }
  if (came(s, 'ask')) {
    const word = wordOf(stage === 'none' ? undefined : stage)
    if (stage === 'none')
      add('T refuses unseen', send(target(s, { stage: 'refused' }), 'ask:refused'))
    if (stage === 'awaiting') add('T is asked, gives up', target(s, { stage: 'refused' }))
    if (stage === 'refused' && domain === 'none') add('T answers', send(s, `ask:${word}`))
    if (stage === 'landed' && s.target.kept) add('T answers', send(s, `ask:${word}`))
    if (stage === 'landed' && !s.target.kept) add('T looks', target(s, { heals: true }))
    if (stage === 'refused' && domain !== 'none') add('T looks', target(s, { heals: true }))
  }
}

/** The target's last step, and its acts by the rules after a fault. */
function settleTarget(s: State, rules: MoveRules, add: Add): void {
  const { program, libvirt, at, heals, stage, domain, whole } = s.target
  if (program === 'down' || libvirt === 'down') return
  if (at === 'finishing') {
    if (domain === 'paused' && whole)
      add('T lets it run', { ...target(s, { domain: 'running' }), ran: true })
    else if (domain === 'running')
      add('T keeps it', send(target(s, { at: 'idle', kept: true }), 'finish:landed'))
    else if (!s.ran) {
      // libvirt answers with an error: the guest has not run here.
      add(
        'libvirt of T refuses, T writes refused',
        target(s, { at: 'idle', stage: 'refused', heals: true }),
      )
    } else add('T has lost it', target(s, { at: 'idle', heals: true }))
    return
  }
  if (!heals) return
  if (stage === 'none' || s.target.kept) return add('T is in order', target(s, { heals: false }))
  const act = rules.target[stage][domain]
  if (act === 'remove' && stage !== 'refused')
    add('T writes refused', target(s, { stage: 'refused' }))
  else if (act === 'remove')
    add('T removes', target(s, { domain: 'none', whole: false, heals: false }))
  else if (act === 'keep') add('T keeps it', target(s, { kept: true, heals: false }))
  else add(`T: ${act}`, { ...target(s, { domain: 'running' }), ran: true })
}

function restart(s: State, add: Add): void {
  if (s.source.program === 'down') add('vmd of S starts', source(s, { program: 'up' }))
  if (s.target.program === 'down') add('vmd of T starts', target(s, { program: 'up', heals: true }))
  if (s.source.libvirt === 'down') {
    const { job, domain } = s.source
    const goesOn = (job === 'copying' || job === 'switching') && domain === 'paused'
    const next = { libvirt: 'up', job: 'none', domain: goesOn ? 'running' : domain } as const
    add('libvirtd of S starts', source(s, next))
  }
  if (s.target.libvirt === 'down') {
    const back = { libvirt: 'up', heals: true, at: 'idle' } as const
    const { domain, whole, at } = s.target
    if (domain !== 'paused') return add('libvirtd of T starts', target(s, back))
    add(
      'libvirtd of T starts and ends what arrived',
      target(s, { ...back, domain: 'none', whole: false }),
    )
    // It had started to run the guest.
    if (at === 'finishing' && whole)
      add('libvirtd of T starts and lets it run', {
        ...target(s, { ...back, domain: 'running' }),
        ran: true,
      })
  }
}

/** Crashes of any part, at any moment. */
function breakDown(s: State, add: Add): void {
  const { source: from, target: to } = s
  if (from.program === 'up') {
    const job = from.job === 'begun' || from.job === 'failed' ? 'none' : from.job
    const at = from.at === 'start' ? 'start' : 'idle'
    add('vmd of S dies', source(s, { program: 'down', at, job }))
  }
  if (from.libvirt === 'up') add('libvirtd of S dies', source(s, { libvirt: 'down' }))
  if (!from.lostPower && from.at !== 'start') {
    const domain = from.domain === 'none' ? 'none' : 'off'
    const off = { program: 'down', libvirt: 'down', at: 'idle', job: 'none' } as const
    add('power of S is lost', source(s, { ...off, domain, lostPower: true }))
  }
  if (to.program === 'up') {
    const dead = { program: 'down', at: 'idle' } as const
    // libvirt aborts an arrival when the connection that prepared it closes.
    const ends = to.domain === 'paused' && to.libvirt === 'up'
    add('vmd of T dies', target(s, ends ? { ...dead, domain: 'none', whole: false } : dead))
    if (ends && to.at === 'finishing' && to.whole)
      add('vmd of T dies, libvirt lets it run', {
        ...target(s, { ...dead, domain: 'running' }),
        ran: true,
      })
  }
  if (to.libvirt === 'up') add('libvirtd of T dies', target(s, { libvirt: 'down' }))
  if (to.domain === 'paused' || to.domain === 'running') {
    const domain = to.domain === 'running' ? 'off' : 'none'
    add('QEMU of T dies', target(s, { domain, whole: false, died: true }))
  }
  if (!to.died) {
    const domain = to.domain === 'running' || to.domain === 'off' ? 'off' : 'none'
    const off = { program: 'down', libvirt: 'down', at: 'idle', whole: false, died: true } as const
    add('power of T is lost', target(s, { ...off, domain }))
  }
}

/** States that must never occur, regardless of crashes. */
export function violation(before: State | undefined, s: State): string | undefined {
  const { source: from, target: to } = s
  if (from.domain === 'running' && to.domain === 'running') return 'the guest runs at both hosts'
  if (s.ran && from.domain === 'running' && before?.source.domain !== 'running')
    return 'the source runs again after the guest ran at the target'
  if (from.domain === 'none' && to.stage !== 'landed') return 'the guest is nowhere'
  return undefined
}

/** Valid ends of a move: exactly one host has the guest, and it runs unless it died there by itself. */
export function isGood({ source: from, target: to }: State): boolean {
  const runs = (domain: DomainSight, died: boolean) =>
    domain === 'running' || (died && domain === 'off')
  const isOver = from.stage === 'over'
  const stayed = runs(from.domain, from.lostPower) && to.domain === 'none' && to.stage === 'refused'
  const moved =
    from.domain === 'none' && to.stage === 'landed' && to.kept && runs(to.domain, to.died)
  return isOver && (stayed || moved)
}
