//! Objects in transit, which events refer to by number.

pub struct Slab<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub const fn new() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }

    pub fn add(&mut self, item: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.items[number as usize] = Some(item);
            return number;
        }
        self.items.push(Some(item));
        (self.items.len() - 1) as u32
    }

    pub fn get(&self, number: u32) -> Option<&T> {
        self.items[number as usize].as_ref()
    }

    pub fn take(&mut self, number: u32) -> Option<T> {
        let item = self.items[number as usize].take();
        self.free.extend(item.is_some().then_some(number));
        item
    }
}
