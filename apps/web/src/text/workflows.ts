// Words of workflows, runs and schedules. Apart from en.ts, so that only their pages load them.
import type { WorkflowImportReport } from '../model/workflows/workflow-import.ts'
import { formatCount, formatLease } from './format.ts'

const runStates: Readonly<Record<string, string>> = {
  initializing: 'Starting',
  running: 'Running',
  waiting: 'Waiting',
  'waiting-signal': 'Waiting for an answer',
  suspended: 'Suspended',
  completed: 'Completed',
  failed: 'Failed',
  canceled: 'Canceled',
}
const stepStates: Readonly<Record<string, string>> = {
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  skipped: 'Skipped',
  canceled: 'Canceled',
}

const imported = ({ name = '', version = '' }: WorkflowImportReport): string => `${name} ${version}`

export const workflowText = {
  runState: (state: string): string => runStates[state] ?? state,
  stepState: (state: string | undefined): string =>
    state === undefined ? 'Not started' : (stepStates[state] ?? state),
  /** Why a run does not go on now. */
  waitsFor: (state: string, step: string | undefined): string | undefined => {
    if (state === 'waiting-signal') return 'The run waits for an answer to its question.'
    if (state === 'suspended') return 'The run is suspended.'
    if (state !== 'waiting') return undefined
    return step === undefined ? 'The run waits.' : `The run waits in the step ${step}.`
  },
  linesShown: (shown: number, leftOut: number): string =>
    `the newest ${formatCount(shown)} of ${formatCount(shown + leftOut)} lines`,
  scheduleTimes: (cron: string | undefined, seconds: number | undefined, zone: string): string =>
    cron === undefined ? `every ${formatLease(seconds ?? 0)}` : `${cron} (${zone})`,
  imported: (report: WorkflowImportReport): string => `${imported(report)} is ${report.result}`,
  wouldBe: (report: WorkflowImportReport): string =>
    report.result === 'unchanged'
      ? `${imported(report)} is already there, unchanged`
      : `No errors: ${imported(report)} would be ${report.result} in ${report.category}`,
} as const
