import { formatPercent } from '../text/format.ts'

import style from './meter.module.css'

const HIGH = 0.8
const FULL = 0.92

interface MeterProps {
  /** From 0 to 1. */
  readonly share: number
  readonly label: string
  readonly large?: boolean
}

/** How much of something is used. The colour shows where it gets tight; the number says it too. */
export function Meter({ share, label, large }: MeterProps) {
  const percent = Math.min(100, Math.round(share * 100))
  const tone = share >= FULL ? style['full'] : share >= HIGH ? style['high'] : ''
  return (
    <span className={`${style['meter']} ${tone} ${large ? style['large'] : ''}`}>
      <span
        className={style['track']}
        role="meter"
        aria-label={label}
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <span className={style['fill']} style={{ inlineSize: `${percent}%` }} />
      </span>
      <span className={style['words']}>{formatPercent(share)}</span>
    </span>
  )
}
