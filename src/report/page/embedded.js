// Where the story comes from: the documents inside this page.

function read(id) {
  return JSON.parse(byId(id)?.textContent || 'null');
}

const source = {
  open: async () => ({ story: read('story'), items: read('items') }),
  detail: async (id) => read(`item-${id}`),
};
