import style from './progress-bar.module.css'

interface ProgressBarProps {
  readonly percent: number
  readonly label: string
}

export const ProgressBar = ({ percent, label }: ProgressBarProps) => (
  <span
    className={style['bar']}
    role="progressbar"
    aria-label={label}
    aria-valuenow={percent}
    aria-valuemin={0}
    aria-valuemax={100}
  >
    <span className={style['fill']} style={{ inlineSize: `${percent}%` }} />
  </span>
)
