import { Button } from '../../components/button.tsx'
import { findAction } from '../../model/actions.ts'
import type { VmDetails } from '../../model/vm.ts'
import { consoleWords } from '../../text/console.ts'
import { en } from '../../text/en.ts'
import { useVmActions } from '../vm-actions.tsx'
import type { ScreenPhase } from './screen-session.ts'

interface ConsoleNoticeProps {
  readonly vm: VmDetails
  readonly phase: ScreenPhase
  readonly onConnect: () => void
}

/** Why there is no picture, and what to do: the content of a notice. */
export function ConsoleNotice({ vm, phase, onConnect }: ConsoleNoticeProps) {
  if (vm.power !== 'on') return <OffNotice vm={vm} />
  if (phase.kind === 'ended' || phase.kind === 'refused') {
    const [headline, advice] =
      phase.kind === 'ended'
        ? [phase.words.headline, phase.words.advice]
        : [consoleWords.notOpened(vm.name), [phase.message]]
    return (
      <>
        <h2>{headline}</h2>
        {advice.map((line) => (
          <p key={line}>{line}</p>
        ))}
        <Button icon="restart" onClick={onConnect}>
          {consoleWords.again}
        </Button>
      </>
    )
  }
  return <p>{consoleWords.connecting}</p>
}

function OffNotice({ vm }: { readonly vm: VmDetails }) {
  const startAction = useVmActions()
  const start = findAction(vm.actions, 'start')
  return (
    <>
      <h2>{en.power[vm.power]}</h2>
      <p>{en.powerMeaning[vm.power]}</p>
      {start && (
        <Button
          tone="primary"
          icon="play"
          unavailable={start.unavailable}
          onClick={() => startAction(vm, start)}
        >
          {en.action.start}
        </Button>
      )}
    </>
  )
}
