import { Icon, type IconName } from '../../components/icon.tsx'
import { workflowText } from '../../text/workflows.ts'

import page from '../../styles/page.module.css'
import style from './run-state.module.css'

const looks: Readonly<Record<string, readonly [IconName, string | undefined]>> = {
  completed: ['check', page['good']],
  failed: ['warning', page['bad']],
  canceled: ['close', page['idle']],
  running: ['play', style['work']],
  initializing: ['play', style['work']],
}

/** The state of a run as symbol, colour and word. */
export function RunState({ state }: { readonly state: string }) {
  const [icon, tone] = looks[state] ?? (['schedule', style['waits']] as const)
  return (
    <span className={`${page['state']} ${tone ?? ''}`}>
      <Icon name={icon} />
      {workflowText.runState(state)}
    </span>
  )
}
