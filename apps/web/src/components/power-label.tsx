import type { DisplayedPower } from '../model/power.ts'
import { en } from '../text/en.ts'

import style from './power-label.module.css'

interface PowerLabelProps {
  readonly power: DisplayedPower
  readonly isBusy?: boolean
  /** What is being done, such as 'Starting'. */
  readonly doing?: string | undefined
}

/** The state of a VM by colour, shape and word; while a task runs, the word says what it does. */
export const PowerLabel = ({ power, isBusy, doing }: PowerLabelProps) => (
  <span className={`${style['label']} ${isBusy || doing ? style['busy'] : style[power]}`}>
    <span className={style['dot']} aria-hidden="true" />
    {doing === undefined ? (isBusy ? 'Busy' : en.power[power]) : `${doing}…`}
  </span>
)
