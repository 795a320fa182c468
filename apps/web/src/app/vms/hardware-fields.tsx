import { TextField } from '../../components/field.tsx'
import { formatMiB } from '../../text/format.ts'

interface HardwareFieldProps {
  /** As it was typed. */
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A cloud takes up to 64; a machine as many as it has. */
export const CpusField = ({
  value,
  onChange,
  max,
}: HardwareFieldProps & { readonly max?: number }) => (
  <TextField
    label="CPUs"
    type="number"
    min={1}
    max={max}
    value={value}
    onChange={(event) => onChange(event.target.value)}
  />
)

export const MemoryField = ({ value, onChange }: HardwareFieldProps) => (
  <TextField
    label="Memory (MiB)"
    type="number"
    min={64}
    hint={formatMiB(Number(value))}
    value={value}
    onChange={(event) => onChange(event.target.value)}
  />
)
