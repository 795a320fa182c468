// A form from a JSON Schema, field by field or as JSON.
import { useId, useMemo, useState } from 'react'

import { Button } from '../../components/button.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../../components/field.tsx'
import {
  draftOf,
  fieldsOf,
  fitsFields,
  kindOf,
  labelOf,
  ownValue,
  readDraft,
  type FormDraft,
  type FormErrors,
  type FormSchema,
} from '../../model/workflows/schema-form.ts'

import page from '../../styles/page.module.css'
import style from './schema-form.module.css'

export interface SchemaForm {
  readonly schema: FormSchema
  readonly draft: FormDraft
  /** undefined: field by field. */
  readonly json: string | undefined
  /** False: the schema is too large for fields, and the form is always JSON. */
  readonly hasFields: boolean
  /** Shown once the user has tried to send the form. */
  readonly errors: FormErrors
  /** The value, or undefined while something is wrong or the schema is being read. */
  readonly value: Readonly<Record<string, unknown>> | undefined
  readonly setDraft: (draft: FormDraft) => void
  readonly setJson: (json: string) => void
  /** From fields to JSON and back. While the JSON is wrong it stays, with its error. */
  readonly switchMode: () => void
  /** Shows the errors; returns the value if there are none. */
  readonly submit: () => Readonly<Record<string, unknown>> | undefined
}

interface SchemaFormOptions {
  /** Of what the form is, such as the id of a workflow. For another key the form starts again. */
  readonly key: string
  /** undefined: it is being read. */
  readonly schema: FormSchema | undefined
  /** What the form starts with, instead of the defaults of the schema. */
  readonly given?: unknown
}

interface FormState {
  readonly key: string
  /** undefined: nothing is typed yet. */
  readonly draft: FormDraft | undefined
  readonly json: string | undefined
  readonly isTried: boolean
}

const asText = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** The state of a form. What is typed stays when a list that contains the schema is read again. */
export function useSchemaForm({ key, schema: found, given }: SchemaFormOptions): SchemaForm {
  const fresh: FormState = { key, draft: undefined, json: undefined, isTried: false }
  const [kept, setKept] = useState(fresh)
  const state = kept.key === key ? kept : fresh
  const change = (part: Partial<FormState>): void =>
    setKept((old) => ({ ...(old.key === key ? old : fresh), ...part }))
  const schema = useMemo<FormSchema>(() => ({ type: 'object', properties: {}, ...found }), [found])
  const hasFields = useMemo(() => fitsFields(schema), [schema])
  const json = state.json ?? (hasFields ? undefined : asText(given ?? {}))
  const draft = json === undefined ? (state.draft ?? draftOf(schema, given)) : {}
  const result = json === undefined ? readDraft(schema, draft) : readJson(json)
  const isRight = found !== undefined && result.errors.size === 0
  const value = isRight ? (result.value as Readonly<Record<string, unknown>>) : undefined
  return {
    schema,
    draft,
    json,
    hasFields,
    errors: state.isTried ? result.errors : new Map(),
    value,
    setDraft: (next) => change({ draft: next }),
    setJson: (next) => change({ json: next }),
    switchMode() {
      if (json === undefined) change({ json: asText(result.value) })
      else if (result.errors.size > 0) change({ isTried: true })
      else change({ json: undefined, draft: draftOf(schema, result.value) })
    },
    submit() {
      change({ isTried: true })
      return value
    },
  }
}

function readJson(text: string) {
  try {
    const value = JSON.parse(text) as unknown
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isObject) return { value, errors: new Map<string, string>() }
  } catch {
    // The message of the browser differs from one to the other.
  }
  return { value: {}, errors: new Map([['', 'Enter a JSON object, such as {"name": "web"}']]) }
}

export function SchemaFields({ form }: { readonly form: SchemaForm }) {
  const { schema, draft, json, hasFields, errors, setDraft, setJson, switchMode } = form
  const isJson = json !== undefined
  return (
    <div className={page['fields']}>
      {isJson ? (
        <TextArea
          label="Inputs as JSON"
          hint={hasFields ? undefined : 'There are too many inputs for a form'}
          rows={10}
          value={json}
          error={errors.get('')}
          onChange={(event) => setJson(event.target.value)}
        />
      ) : (
        <GroupFields
          schema={schema}
          draft={draft}
          path=""
          errors={errors}
          onChange={(next) => setDraft(next)}
        />
      )}
      {errors.size > 0 && (
        <p className={page['bad']} role="alert">
          {errors.size === 1 ? 'One field needs' : `${errors.size} fields need`} your attention.
        </p>
      )}
      {hasFields && (
        <div>
          <Button small tone="plain" icon="keys" onClick={switchMode}>
            {isJson ? 'Edit as a form' : 'Edit as JSON'}
          </Button>
        </div>
      )}
    </div>
  )
}

interface DraftProps {
  readonly schema: FormSchema
  readonly draft: FormDraft
  readonly path: string
  readonly errors: FormErrors
  readonly onChange: (draft: FormDraft) => void
}

function GroupFields({ schema, draft, path, errors, onChange }: DraftProps) {
  const drafts = (typeof draft === 'object' ? draft : {}) as Readonly<Record<string, FormDraft>>
  const fields = fieldsOf(schema)
  if (fields.length === 0) return <p className={page['soft']}>No inputs.</p>
  return fields.map(({ name, schema: own, isRequired }) => (
    <DraftField
      key={name}
      label={isRequired ? `${labelOf(name, own)} (required)` : labelOf(name, own)}
      schema={own}
      draft={ownValue(drafts, name) ?? draftOf(own)}
      path={`${path}/${name}`}
      errors={errors}
      onChange={(next) => onChange({ ...drafts, [name]: next })}
    />
  ))
}

const inputTypes: Readonly<Record<string, string>> = {
  secret: 'password',
  date: 'date',
  time: 'datetime-local',
}

function DraftField({ label, ...field }: DraftProps & { readonly label: string }) {
  const { schema, draft, path, errors, onChange } = field
  const kind = kindOf(schema)
  const described = { label, hint: schema.description, error: errors.get(path) }
  const text = typeof draft === 'string' ? draft : ''
  if (kind === 'group' || kind === 'list') return <FieldGroup label={label} {...field} />
  if (kind === 'flag') {
    return (
      <div>
        <CheckField label={label} checked={draft === true} onChange={onChange} />
        {schema.description !== undefined && (
          <small className={page['small']}>{schema.description}</small>
        )}
      </div>
    )
  }
  if (kind === 'choice') {
    const choices = (schema.enum ?? []).map((each) => ({
      value: JSON.stringify(each),
      text: typeof each === 'string' ? each : JSON.stringify(each),
    }))
    return (
      <SelectField
        {...described}
        value={text}
        options={[{ value: '', text: 'Choose…' }, ...choices]}
        onChange={onChange}
      />
    )
  }
  if (kind === 'json') {
    return (
      <TextArea
        {...described}
        rows={4}
        placeholder="JSON"
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  }
  return (
    <TextField
      {...described}
      type={inputTypes[kind] ?? 'text'}
      inputMode={kind === 'number' ? 'decimal' : undefined}
      autoComplete={kind === 'secret' ? 'new-password' : 'off'}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

/** An object or a list, whose fields are inside a frame. */
function FieldGroup({ label, ...field }: DraftProps & { readonly label: string }) {
  const { schema, errors, path } = field
  const id = useId()
  const error = errors.get(path)
  return (
    <fieldset className={style['group']} aria-describedby={error && `${id}-error`}>
      <legend>{label}</legend>
      {schema.description !== undefined && (
        <small className={page['small']}>{schema.description}</small>
      )}
      {kindOf(schema) === 'group' ? <GroupFields {...field} /> : <ListFields {...field} />}
      {error !== undefined && (
        <small id={`${id}-error`} className={page['bad']}>
          {error}
        </small>
      )}
    </fieldset>
  )
}

function ListFields({ schema, draft, path, errors, onChange }: DraftProps) {
  const items = schema.items ?? {}
  const drafts = Array.isArray(draft) ? (draft as readonly FormDraft[]) : []
  return (
    <>
      {drafts.map((each, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- items of a list have no other identity
        <div key={at} className={style['item']}>
          <DraftField
            label={labelOf(`Item ${at + 1}`, items)}
            schema={items}
            draft={each}
            path={`${path}/${at}`}
            errors={errors}
            onChange={(next) => onChange(drafts.map((old, n) => (n === at ? next : old)))}
          />
          <Button
            tone="plain"
            icon="trash"
            label={`Remove item ${at + 1}`}
            onClick={() => onChange(drafts.filter((_, n) => n !== at))}
          />
        </div>
      ))}
      <div>
        <Button small icon="plus" onClick={() => onChange([...drafts, draftOf(items)])}>
          Add item
        </Button>
      </div>
    </>
  )
}
