// `make site` appends this file to the worker that searches the site.

// A name such as retainOnDelete stays whole in a question, and its parts are added. The theme would only use the parts.
let parts
const build = lunr.Builder.prototype.build
lunr.Builder.prototype.build = function () {
  parts = lunr.tokenizer.separator
  lunr.tokenizer.separator = /\s+/
  return build.call(this)
}
const search = lunr.Index.prototype.search
lunr.Index.prototype.search = function (question) {
  return search.call(this, question.split(' ').flatMap(word => {
    const some = /^[\w./-]+\*$/.test(word) ? word.slice(0, -1).split(parts).filter(Boolean) : []
    return some.length > 1 ? [word, ...some.map(part => part + '*')] : [word]
  }).join(' '))
}

// The index contains stems of words, and no words such as "a" and "what". The theme does not stem the words of a question,
// because their ends can be missing, so "a" would match each word that begins with it.
const query = lunr.Index.prototype.query
lunr.Index.prototype.query = function (fill) {
  return query.call(this, question => {
    fill.call(question, question)
    const rare = question.clauses.filter(({ term }) => lunr.stopWordFilter(term.replace(/\*$/, '')))
    if (rare.length) question.clauses = rare
    for (const clause of question.clauses) {
      const [, word, wildcard] = clause.term.match(/^(.*?)(\*?)$/)
      clause.term = lunr.stemmer(new lunr.Token(word)).toString() + wildcard
    }
  })
}
