import type { QuestionsDocument } from '../../api/workflows.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { QuestionCard } from '../../app/workflows/question-card.tsx'
import { EmptyState, ErrorState } from '../../components/empty-state.tsx'
import { useWorkflowList } from '../../data/workflows/use-workflows.ts'

import page from '../../styles/page.module.css'

/** Questions of all runs that the user can see and that wait for an answer. */
export function QuestionsPage() {
  const { data, error, refetch } = useWorkflowList<QuestionsDocument>(
    '/catalog/System/UserInteraction?status=0',
  )
  const questions = data?.['user-interaction'] ?? []
  usePageTitle({ text: 'Questions', total: data && questions.length })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      {data && questions.length === 0 ? (
        <EmptyState title="No questions">
          <p>A run that needs a decision asks here and waits for the answer.</p>
        </EmptyState>
      ) : (
        <div className={page['cards']}>
          {questions.map((question) => (
            <QuestionCard key={`${question.execution}/${question.id}`} question={question} />
          ))}
        </div>
      )}
    </div>
  )
}
