import { SelectField, TextField, Tiles } from '../../components/field.tsx'
import {
  intervalUnits,
  type IntervalUnit,
  type TimesForm,
} from '../../model/workflows/schedule-times.ts'

import page from '../../styles/page.module.css'

const kinds = [
  { value: 'cron', text: 'Fixed times', more: 'such as every night at 3' },
  { value: 'interval', text: 'Interval', more: 'such as every 2 hours' },
] as const

interface TimesFieldsProps {
  readonly form: TimesForm
  readonly onChange: (form: TimesForm) => void
}

/** When a schedule starts its workflow. */
export function TimesFields({ form, onChange }: TimesFieldsProps) {
  const change = (part: Partial<TimesForm>): void => onChange({ ...form, ...part })
  return (
    <>
      <Tiles
        legend="Starts"
        options={kinds}
        value={form.kind}
        onChange={(kind) => change({ kind })}
      />
      {form.kind === 'cron' ? (
        <div className={page['pair']}>
          <TextField
            label="Times"
            hint="Cron: minute, hour, day of the month, month, day of the week"
            value={form.cron}
            onChange={(event) => change({ cron: event.target.value })}
          />
          <TextField
            label="Time zone"
            value={form.zone}
            onChange={(event) => change({ zone: event.target.value })}
          />
        </div>
      ) : (
        <div className={page['pair']}>
          <TextField
            label="Every"
            type="number"
            min={1}
            value={form.amount}
            onChange={(event) => change({ amount: event.target.value })}
          />
          <SelectField
            label="Unit"
            value={form.unit}
            options={Object.keys(intervalUnits).map((value) => ({ value, text: value }))}
            onChange={(unit) => change({ unit: unit as IntervalUnit })}
          />
        </div>
      )}
    </>
  )
}
