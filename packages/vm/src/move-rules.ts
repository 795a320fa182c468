/**
 * Decides which of two hosts has a moving guest, and what each host does after a crash or a lost
 * answer. Each host records the stage of the move, and the target's word counts:
 *
 *   source   departing ─▶ handed ─┬▶ left     the target has the guest: nothing stays here
 *                │                └▶ stayed   the target refused: the guest continues here
 *                └─────────────────▶ stayed   the target was never asked to run the guest
 *   target   awaiting ─▶ landed               recorded before the guest may run here
 *                └─────▶ refused              forever
 */
export const departureStages = ['departing', 'handed', 'stayed', 'left'] as const
export type DepartureStage = (typeof departureStages)[number]

export const arrivalStages = ['awaiting', 'landed', 'refused'] as const
export type ArrivalStage = (typeof arrivalStages)[number]

/** The target's answer. It never revokes an answer. */
export type TargetWord = 'landed' | 'refused'
/** The answer as received by the source; 'silent' if the target does not answer. */
export type HeardWord = TargetWord | 'silent'

/** The state of a guest's domain in libvirt. A guest that was paused before its move counts as running while it is paused. */
export const domainSights = ['none', 'off', 'paused', 'running'] as const
export type DomainSight = (typeof domainSights)[number]

/**
 * stay: the guest continues here. leave: the guest and its files are removed here. ask: query the
 * target and do nothing else. end: nothing is left to do.
 */
export type DepartureAct = 'stay' | 'leave' | 'ask' | 'end'

/** remove: delete domain and files. resume, start: run the guest here. keep: make it a VM of this host. */
export type ArrivalAct = 'remove' | 'resume' | 'start' | 'keep'

export interface MoveRules {
  readonly source: Readonly<Record<DepartureStage, Readonly<Record<HeardWord, DepartureAct>>>>
  readonly target: Readonly<Record<ArrivalStage, Readonly<Record<DomainSight, ArrivalAct>>>>
}

export const moveRules: MoveRules = {
  source: {
    // The target lands only on request, and the request is sent only after 'handed' is recorded.
    departing: { silent: 'stay', refused: 'stay', landed: 'leave' },
    handed: { silent: 'ask', refused: 'stay', landed: 'leave' },
    // The target must still learn that nothing will arrive.
    stayed: { silent: 'ask', refused: 'end', landed: 'end' },
    left: { silent: 'leave', refused: 'leave', landed: 'leave' },
  },
  target: {
    awaiting: { none: 'remove', off: 'remove', paused: 'remove', running: 'remove' },
    // It may have run for a moment, so the source must not resume it: start what is left of it here.
    landed: { none: 'start', off: 'start', paused: 'resume', running: 'keep' },
    refused: { none: 'remove', off: 'remove', paused: 'remove', running: 'remove' },
  },
}

/** The stage that the source records with an act; undefined if it drops the move. */
export const stageAfter: Readonly<Record<DepartureAct, DepartureStage | 'same' | undefined>> = {
  stay: 'stayed',
  leave: 'left',
  ask: 'same',
  end: undefined,
}

/** The target's answer. If the guest has not landed, the query decides that it never will. */
export const wordOf = (stage: ArrivalStage | undefined): TargetWord =>
  stage === 'landed' ? 'landed' : 'refused'
