use std::time::Duration;

use flakeid_core::{Error, GeneratorBuilder, Layout, Overflow, Rollback, Window};
use napi_derive::napi;

use crate::number::{field, instant, optional};

/// The options of a generator, as text: numbers in decimal, whatever their size.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct OptionTexts {
    /// A descriptor or a preset's name.
    pub layout: Option<String>,
    /// Unix milliseconds of tick 0.
    pub epoch: Option<String>,
    /// The whole machine field.
    pub node: Option<String>,
    /// Several nodes instead of one: a power of two of them.
    pub nodes: Option<Vec<String>>,
    /// The high part of the node.
    pub datacenter: Option<String>,
    /// The low part of the node.
    pub worker: Option<String>,
    /// The largest sequence number to use.
    pub sequence_mask: Option<String>,
    /// Random bits at the start of a tick.
    pub sequence_start: Option<String>,
    /// What to do when a tick is full.
    pub overflow: Option<String>,
    /// What to do when the clock goes back.
    pub rollback: Option<String>,
    /// The name of a clock of the system's.
    pub clock: Option<String>,
    /// How far ahead of the clock a window may be used.
    pub max_ahead_ms: Option<String>,
    /// How long a call waits without issuing an ID.
    pub max_wait_ms: Option<String>,
    /// The first tick of the window.
    pub window_start: Option<String>,
    /// The tick after its last one.
    pub window_fence: Option<String>,
}

impl OptionTexts {
    pub(crate) fn layout(&self) -> Result<Layout, Error> {
        layout(self.layout.as_ref(), self.epoch.as_ref())
    }

    pub(crate) fn max_wait(&self) -> Result<Option<Duration>, Error> {
        milliseconds("max_wait_ms", self.max_wait_ms.as_ref())
    }

    pub(crate) fn window(&self) -> Result<Option<Window>, Error> {
        let (Some(start), Some(fence)) = (&self.window_start, &self.window_fence) else {
            return Ok(None);
        };
        let start = field("window start", start, u64::MAX)?;
        Window::new(start, field("window fence", fence, u64::MAX)?).map(Some)
    }

    /// Everything but the clock, which is named here or passed as an object.
    pub(crate) fn builder(&self, layout: Layout) -> Result<GeneratorBuilder, Error> {
        let mut builder = layout_builder(layout, self)?;
        if let Some(mask) =
            optional("sequence_mask", self.sequence_mask.as_ref(), layout.max_sequence())?
        {
            builder = builder.sequence_mask(mask);
        }
        if let Some(bits) = sequence_start(self.sequence_start.as_ref(), &layout)? {
            builder = builder.sequence_start(bits);
        }
        if let Some(overflow) = &self.overflow {
            builder = builder.overflow(overflow.parse::<Overflow>()?);
        }
        if let Some(rollback) = &self.rollback {
            builder = builder.rollback(rollback.parse::<Rollback>()?);
        }
        if let Some(max_ahead) = milliseconds("max_ahead_ms", self.max_ahead_ms.as_ref())? {
            builder = builder.max_ahead(max_ahead);
        }
        if let Some(max_wait) = self.max_wait()? {
            builder = builder.max_wait(max_wait);
        }
        if let Some(window) = self.window()? {
            builder = builder.window(window);
        }
        Ok(builder)
    }
}

/// The layout of a descriptor, the default one unless given, with an epoch.
pub(crate) fn layout(descriptor: Option<&String>, epoch: Option<&String>) -> Result<Layout, Error> {
    let layout = descriptor.map_or(Ok(Layout::default()), |text| text.parse())?;
    epoch.map_or(Ok(layout), |epoch| layout.with_epoch(instant(epoch)))
}

pub(crate) fn milliseconds(
    name: &'static str,
    text: Option<&String>,
) -> Result<Option<Duration>, Error> {
    Ok(optional(name, text, u64::MAX)?.map(Duration::from_millis))
}

pub(crate) fn small(name: &'static str, text: Option<&String>) -> Result<Option<u32>, Error> {
    let most = u64::from(u32::MAX);
    let parse =
        |text: &String| text.parse().map_err(|_| Error::field_out_of_range(name, text, 0, most));
    text.map(parse).transpose()
}

pub(crate) fn sequence_start(text: Option<&String>, layout: &Layout) -> Result<Option<u32>, Error> {
    let bits = |text: &String| {
        let most = u64::from(layout.max_sequence().count_ones());
        let refused = |_| Error::field_out_of_range("sequence_start", text, 0, most);
        text.parse().map_err(refused)
    };
    text.map(bits).transpose()
}

fn layout_builder(layout: Layout, options: &OptionTexts) -> Result<GeneratorBuilder, Error> {
    let (most_datacenter, most_worker) = layout.max_datacenter_and_worker().unwrap_or_default();
    let mut builder = flakeid_core::Generator::builder(layout);
    if let Some(node) = optional("node", options.node.as_ref(), layout.max_node())? {
        builder = builder.node(node);
    }
    if let Some(nodes) = &options.nodes {
        let node = |text: &String| field("nodes", text, layout.max_node());
        builder = builder.nodes(&nodes.iter().map(node).collect::<Result<Vec<_>, _>>()?);
    }
    if let Some(datacenter) = optional("datacenter", options.datacenter.as_ref(), most_datacenter)?
    {
        builder = builder.datacenter(datacenter);
    }
    if let Some(worker) = optional("worker", options.worker.as_ref(), most_worker)? {
        builder = builder.worker(worker);
    }
    Ok(builder)
}
